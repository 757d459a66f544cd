package bolt

// The version of the rows that decide access is even, and odd while a commit that changes them is under way: bbolt shows a commit
// to readers before its last sync has returned. So as long as the same even number is there, no such commit has become visible,
// and what was read of those rows is what a transaction that begins now would read.

// decides tells whether the rows of a bucket decide who may do what, and where.
func (b bucket) decides() bool {
	switch b {
	case usersBucket, keysBucket, sessionsBucket, privilegesBucket, dataspacesBucket, setsBucket, stepsBucket:
		return true
	}
	return false
}

// firstAccess is the version of a file that has just been opened.
const firstAccess = 2

// AccessVersion implements metadata.Store.
func (s *Store) AccessVersion() uint64 {
	return s.committer.accessSince(s.committer.access.Load())
}

// accessSince returns the version that was there before something, if it is there still; else 0.
func (c *committer) accessSince(before uint64) uint64 {
	if before%2 == 1 || c.access.Load() != before {
		return 0
	}
	return before
}

// access implements metadata.Tx.
func (t *tx) access() uint64 {
	if t.decided {
		return 0
	}
	return t.version
}

// changeAccess is called before a commit that changes what decides access can be seen, and what it returns once the outcome is
// known and before anybody hears of it. A commit that failed counts as well: some of it may be there.
func (c *committer) changeAccess() (done func()) {
	c.access.Add(1)
	return func() { c.access.Add(1) }
}
