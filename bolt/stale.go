//go:build !mutant_index

package bolt

import "slices"

// deleteStale takes out the entries that a row had and no longer has.
func (t *tx) deleteStale(old, entries []entry) {
	for _, e := range old {
		if !slices.ContainsFunc(entries, e.sameKey) {
			t.delete(e.bucket, e.key)
		}
	}
}
