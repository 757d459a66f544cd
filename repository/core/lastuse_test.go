package core_test

import (
	"testing"
	"time"

	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository/core"
)

// TestLastUseOfRevokedKey: the use of a key is not recorded if another node has revoked the key in
// the meantime.
func TestLastUseOfRevokedKey(t *testing.T) {
	t.Parallel()
	meta := metadatatest.NewMemory(time.Now)
	user, key := metadatatest.IDAt('U', 1), metadatatest.IDAt('K', 1)
	for gone, want := range map[metadata.Stamp]metadata.Stamp{0: 7, 5: 3} {
		put := func(tx *metadata.Tx) error {
			return tx.Keys.Put(metadata.Key{UserID: user, ID: key, LastUsed: 3, Gone: gone})
		}
		if err := meta.Update(t.Context(), put); err != nil {
			t.Fatal(err)
		}
		core.SaveUse(t.Context(), meta, user, key, 7)
		err := meta.View(t.Context(), func(tx *metadata.Tx) error {
			k, err := tx.Keys.Get(user, key)
			if err == nil && k.LastUsed != want {
				t.Errorf("revoked at %d: used at %d, want %d", gone, k.LastUsed, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
