package handlers_test

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/metadata"
	"labshelf/paging"
)

// dump describes every record and counter of the service. It omits the time of the last use of a
// key, which is recorded some time after a request.
func (c *client) dump() string {
	c.t.Helper()
	var out strings.Builder
	err := c.meta.View(context.Background(), func(tx *metadata.Tx) error {
		rows(&out, tx.Dataspaces.All(metadata.ID{}))
		rows(&out, tx.Sets.Range(metadata.SetRange{States: paging.All}))
		rows(&out, tx.Resources.Range(metadata.ResourceRange{States: paging.All, Order: paging.Oldest}))
		rows(&out, tx.Users.All(metadata.ID{}))
		rows(&out, tx.Privileges.All(metadata.ID{}))
		rows(&out, tx.Descriptive.All(metadata.ID{}))
		rows(&out, tx.Folders.All(metadata.FolderKey{}))
		rows(&out, tx.FileProperties.All(metadata.ID{}))
		rows(&out, tx.Schemas.All(metadata.ID{}))
		rows(&out, tx.SchemaVersions.All(metadata.SchemaVersionKey{}))
		rows(&out, tx.Cascades.All(metadata.ID{}))
		for hook, err := range tx.Webhooks.All(metadata.ID{}) {
			fmt.Fprintln(&out, hook.Record, hook.URL, hook.Label, hook.Events, hook.Secret, hook.FormerSecret, hook.Paused, err) // the other fields change in the background
		}
		for id, err := range tx.Uploads.Ended(math.MaxInt64) {
			row, err2 := tx.Uploads.Get(id)
			fmt.Fprintf(&out, "%+v %v %v\n", row, err, err2)
		}
		for user, err := range tx.Users.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			for key, err := range tx.Keys.OfUser(user.ID, metadata.ID{}) {
				key.LastUsed = 0
				fmt.Fprintf(&out, "%+v %v\n", key, err)
			}
		}
		for d, err := range tx.Dataspaces.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			rows(&out, tx.Usage.Days(d.ID))
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return out.String()
}

// disk lists the blobs.
func (g *gateway) disk(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(g.dir, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(entry.Name(), "watermark") {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func rows[T any](out *strings.Builder, seq iter.Seq2[T, error]) {
	for row, err := range seq {
		fmt.Fprintf(out, "%T %+v %v\n", row, row, err)
	}
}
