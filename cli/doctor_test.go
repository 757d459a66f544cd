package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/bolt"
	"labshelf/metadata"
)

// examined runs doctor and returns what it found, by check.
func examined(t *testing.T, data string) (map[string]finding, error) {
	t.Helper()
	found := map[string]finding{}
	err := examine(t.Context(), data, func(f finding) error {
		found[f.Check] = f
		return nil
	})
	return found, err
}

// TestDoctorLeavesNothing ends it at each examination, and has its output fail.
func TestDoctorLeavesNothing(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		place := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		seen, broken := 0, errors.New("broken pipe")
		err := examine(ctx, filepath.Join(place, "data"), func(finding) error {
			if seen++; seen == n && n%2 == 0 {
				return broken
			}
			if seen >= n {
				cancel()
			}
			return nil
		})
		cancel()
		if left, err := os.ReadDir(place); err != nil || len(left) > 0 {
			t.Errorf("ended after %d: left %v, %v", n, left, err)
		}
		switch {
		case err == nil:
			if n < 5 {
				t.Errorf("ended after %d: no error", n)
			}
			return
		case !errors.Is(err, context.Canceled) && !errors.Is(err, broken):
			t.Fatalf("ended after %d: %v", n, err)
		}
	}
}

// TestDoctorClock has a last change from the future, and one from the past.
func TestDoctorClock(t *testing.T) {
	t.Parallel()
	for ahead, level := range map[time.Duration]string{-time.Hour: levelOK, 10 * 365 * 24 * time.Hour: levelWarning} {
		data := t.TempDir()
		meta, err := bolt.Open(filepath.Join(data, metadataFile), bolt.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		err = meta.Update(t.Context(), func(tx *metadata.Tx) error {
			return tx.Steps.Put(metadata.Step{Container: metadata.ID{1}, Begun: tx.Stamp()})
		})
		if err := errors.Join(err, meta.Close()); err != nil {
			t.Fatal(err)
		}
		found, _ := examined(t, data)
		if found["clock"].Level != level {
			t.Errorf("last change %v ahead: %+v", ahead, found["clock"])
		}
	}
}

func TestDoctorShortens(t *testing.T) {
	t.Parallel()
	got := some(make([]finding, 263))
	if len(got) != maxListed+1 || !strings.Contains(got[maxListed].Found, "253 more") {
		t.Errorf("%d: %+v", len(got), got[len(got)-1])
	}
	if got := some(make([]finding, maxListed)); len(got) != maxListed {
		t.Errorf("%d", len(got))
	}
}
