package bolt

import "context"

// The version of the rows that decide access is even, and odd while a commit that changes them is
// under way: bbolt shows a commit to readers before its last sync has returned. While the version
// is the same even number no such commit has become visible, and a transaction that begins now
// reads of those rows what was read before.

// firstAccess is the version of a file that has just been opened.
const firstAccess = 2

// AccessVersion implements metadata.Store. It never fails.
func (s *Store) AccessVersion(context.Context) (uint64, error) {
	return s.committer.accessSince(s.committer.access.Load()), nil
}

// accessSince returns the version that was read before if it is still the present one, else 0.
func (c *committer) accessSince(before uint64) uint64 {
	if before%2 == 1 || c.access.Load() != before {
		return 0
	}
	return before
}

// changeAccess is called before a commit that changes access rows becomes visible, and the function
// that it returns once the outcome is known and before any caller is answered. A commit that failed
// counts as well: some of it may be there.
func (c *committer) changeAccess() (done func()) {
	c.access.Add(1)
	return func() { c.access.Add(1) }
}
