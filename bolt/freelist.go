package bolt

import (
	"time"

	"go.etcd.io/bbolt"
)

// bbolt can write the list of free pages with each commit, or leave it out and look for them in the whole file when that is
// opened next. Neither is right alone. The list is sorted and written anew each time: after 1 million resources were loaded 347
// changes a second against 1,345, after 10 million 77 against 1,102. Without it, opening 10 million took 134 s. So it is written
// while it is short, and left out while it is long, which is the case after much was deleted or loaded at once. Before the file
// is closed, when nothing has come for a while, and after a commit that failed, it is written all the same: only a crash in the
// midst of changes to such a file makes the next start read all of it.
const (
	longList = 2_000       // free pages; up to here their list costs a commit less than 0.2 ms, with 16,000 about 1 ms
	quiet    = time.Second // without a change, after which a list that was left out is written
)

// freelist is what a committer knows of the list of free pages in its file.
type freelist struct {
	long   int           // up to so many free pages it is written
	quiet  time.Duration // see the constant
	absent bool          // the last commit has left it out
	wanted bool          // a commit has failed since
}

// decide is called before each commit. A list that is asked for is written however long it is.
func (f *freelist) decide(db *bbolt.DB, asked bool) {
	stats := db.Stats()
	db.NoFreelistSync = !asked && stats.FreePageN+stats.PendingPageN > f.long
}

// failed notes that a commit has failed that may succeed another time, for instance because the disk was full. Where the list is
// absent bbolt has just read the whole file for it, and would do so after each such failure.
func (f *freelist) failed() { f.wanted = f.absent }

// listFree commits the list of free pages, and nothing else, where it is absent. A failure is told by the next change, if it
// was not just for lack of space; then the list stays absent.
func (c *committer) listFree() {
	defer func() { c.free.wanted = false }() // tried once
	if !c.free.absent || c.failed != nil {
		return
	}
	btx, err := c.db.Begin(true)
	if err != nil {
		_ = c.fail(err)
		return
	}
	defer func() { _ = c.rollback(btx) }()
	c.free.decide(c.db, true)
	_ = guarded(func() error { return c.finish(btx, c.transaction(btx)) })
}
