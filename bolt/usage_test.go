package bolt

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// TestLostUsageIsDamage flips a bit in the keys of usage rows, so that they are not found. No wrong
// count may be returned or written.
func TestLostUsageIsDamage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := newWorld(t, nil)
	space := w.sets[0].DataspaceID
	upload := func(name string) error {
		_, err := w.upload(ctx, w.svc, w.sets[0], "", name, name)
		return err
	}
	asks := map[string]func() error{
		"usage": func() error { _, err := w.svc.Dataspaces.Usage(ctx, w.admin); return err },
		"usage of the dataspace": func() error {
			_, err := w.svc.Dataspaces.DataspaceUsage(ctx, w.admin, space.String())
			return err
		},
		"upload": func() error { return upload("second") },
	}
	check(upload("first"))
	for name, c := range map[string]struct {
		lost  []string
		wrong []string
	}{
		"both rows":              {[]string{"usage", "usage_by_day"}, []string{"usage", "usage of the dataspace", "upload"}},
		"the row of the present": {[]string{"usage"}, []string{"usage", "usage of the dataspace", "upload"}},
		"the row of the day":     {[]string{"usage_by_day"}, []string{"usage", "usage of the dataspace"}},
	} {
		flip := func() { w.store.raw(t, func(tx *bbolt.Tx) error { return flipKeys(tx, c.lost) }) }
		flip()
		for _, ask := range c.wrong {
			if err := asks[ask](); !errors.Is(err, metadata.ErrRecordDamaged) {
				t.Errorf("without %s, %s: %v", name, ask, err)
			}
		}
		flip()
	}
	for ask, try := range asks {
		if err := try(); err != nil {
			t.Errorf("restored, %s: %v", ask, err)
		}
	}
	if u := must(w.svc.Dataspaces.DataspaceUsage(context.Background(), w.admin, space.String())); u.ActiveFiles != 2 {
		t.Errorf("%d files are counted, want 2", u.ActiveFiles)
	}
}

// flipKeys flips a bit of the dataspace in the only key of each bucket.
func flipKeys(tx *bbolt.Tx, in []string) error {
	for _, b := range in {
		rows := tx.Bucket([]byte(b))
		key, value := rows.Cursor().First()
		flipped := bytes.Clone(key)
		flipped[len(metadata.ID{})-1] ^= 1
		if err := errors.Join(rows.Put(flipped, slices.Clone(value)), rows.Delete(bytes.Clone(key))); err != nil {
			return err
		}
	}
	return nil
}
