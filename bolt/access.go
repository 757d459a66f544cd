package bolt

import "context"

// The version of the access rows is even. It is odd during a commit that changes them, because
// bbolt shows a commit to readers before its last sync has returned. While the version is the same
// even number, no such commit has become visible, so a new transaction reads the same access rows
// as before.

// firstAccess is the access version of a newly opened file.
const firstAccess = 2

// AccessVersion implements metadata.Store. It never fails.
func (s *Store) AccessVersion(context.Context) (uint64, error) {
	return s.committer.accessSince(s.committer.access.Load()), nil
}

// accessSince returns the given access version if it is still current, otherwise 0.
func (c *committer) accessSince(before uint64) uint64 {
	if before%2 == 1 || c.access.Load() != before {
		return 0
	}
	return before
}

// changeAccess is called before a commit that changes access rows becomes visible. The caller calls
// done when the outcome is known, before it answers any operation. A failed commit counts, too,
// because it may be visible in part.
func (c *committer) changeAccess() (done func()) {
	c.access.Add(1)
	return func() { c.access.Add(1) }
}
