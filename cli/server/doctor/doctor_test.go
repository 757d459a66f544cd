package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/bolt"
	"labshelf/cli/datadir"
	"labshelf/metadata"
)

// examined runs doctor and returns the findings by check.
func examined(t *testing.T, data string) (map[string]Finding, error) {
	t.Helper()
	found := map[string]Finding{}
	err := Examine(t.Context(), data, datadir.Stores{}, func(f Finding) error {
		found[f.Check] = f
		return nil
	})
	return found, err
}

// TestExaminationLeavesNothing tests that an examination removes its files when it is cancelled, or
// its output fails, after any of its findings.
func TestExaminationLeavesNothing(t *testing.T) {
	t.Parallel()
	for n := 0; ; n++ {
		place := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		seen, broken := 0, errors.New("broken pipe")
		err := Examine(ctx, filepath.Join(place, "data"), datadir.Stores{}, func(Finding) error {
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
			t.Errorf("cancelled after %d: %v remains, %v", n, left, err)
		}
		switch {
		case err == nil:
			if n < 5 {
				t.Errorf("cancelled after %d: no error", n)
			}
			return
		case !errors.Is(err, context.Canceled) && !errors.Is(err, broken):
			t.Fatalf("ended after %d: %v", n, err)
		}
	}
}

// TestClockBehindLastChangeIsWarning tests a last change in the future, and one in the past.
func TestClockBehindLastChangeIsWarning(t *testing.T) {
	t.Parallel()
	for ahead, level := range map[time.Duration]string{-time.Hour: levelOK, 10 * 365 * 24 * time.Hour: levelWarning} {
		data := t.TempDir()
		meta, err := bolt.Open(filepath.Join(data, datadir.MetadataFile), bolt.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
		if err != nil {
			t.Fatal(err)
		}
		err = meta.Update(t.Context(), func(tx *metadata.Tx) error {
			return tx.Cascades.Put(metadata.Cascade{Container: metadata.ID{1}, Begun: tx.Stamp()})
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

func TestLongFindingsAreShortened(t *testing.T) {
	t.Parallel()
	got := some(make([]Finding, 263))
	if len(got) != maxListed+1 || !strings.Contains(got[maxListed].Found, "253 more") {
		t.Errorf("%d: %+v", len(got), got[len(got)-1])
	}
	if got := some(make([]Finding, maxListed)); len(got) != maxListed {
		t.Errorf("%d", len(got))
	}
}
