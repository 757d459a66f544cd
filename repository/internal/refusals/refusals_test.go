package refusals_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository/internal/refusals"
	"labshelf/repository/internal/storage"
)

// TestOneEntryPerMinute: any number of refused requests are logged in one entry per minute. The
// last entry is written at the end.
func TestOneEntryPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meta := metadatatest.NewMemory(time.Now)
		counter := refusals.Start(storage.New(meta, blobstest.NewMemory(), nil))
		for range 1000 {
			counter.Note(errs.Forbidden)
			counter.Note(errs.Unauthenticated)
			counter.Note(errs.NotFound)
		}
		time.Sleep(30 * time.Second)
		counter.Note(errs.Forbidden)
		if got := counted(t, meta); len(got) != 0 {
			t.Errorf("within the minute: %q", got)
		}
		time.Sleep(time.Minute)
		if got := counted(t, meta); len(got) != 1 || !strings.HasSuffix(got[0], `"unauthenticated":"1000","forbidden":"1001"}`) {
			t.Errorf("after it: %q", got)
		}
		if got := counted(t, meta); len(got) != 1 {
			t.Errorf("%d entries", len(got))
		}
		time.Sleep(time.Hour)
		counter.Note(errs.Unauthenticated)
		counter.Close()
		if got := counted(t, meta); len(got) != 2 || !strings.HasSuffix(got[1], `"unauthenticated":"1","forbidden":"0"}`) {
			t.Errorf("at the end: %q", got)
		}
		if err := meta.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// counted returns the values of the entries about refusals.
func counted(t *testing.T, meta metadata.Reader) (values []string) {
	t.Helper()
	err := meta.View(context.Background(), func(tx *metadata.Tx) error {
		state, err := tx.Audit.State()
		for number := range state.Size {
			row, failed := tx.Audit.Get(number)
			e, unread := row.Entry()
			if failed != nil || unread != nil {
				t.Fatal(failed, unread)
			}
			if e.Action == audit.Refuse {
				values = append(values, e.Values)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return values
}
