package bolt

import (
	"errors"
	"maps"
	"testing"

	"labshelf/metadata"
)

// TestUpgradeCountsStorers tests the upgrade to schema 15. Before, all versions of a resource
// counted for its creator. The upgrade counts each for the user who stored it. A move to another
// set stores all of them.
func TestUpgradeCountsStorers(t *testing.T) {
	t.Parallel()
	s, err := Open(olderFile(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]int64{}
	err = s.View(t.Context(), func(tx *metadata.Tx) error {
		for u, err := range tx.Users.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			usage, err := tx.UserUsage.Get(u.ID)
			if used[u.Username] = usage.Bytes; err != nil && !errors.Is(err, metadata.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	want := map[string]int64{
		"admin": 0,
		"anna":  55 + 100 + 203 + 5000 + 40 + 8 + 9,
		"berta": 30 + 1000 + 700 + 5700 + 10_000,
	}
	if err != nil || !maps.Equal(used, want) {
		t.Errorf("the users have stored %v, want %v, %v", used, want, err)
	}
	check(s.Close())
}
