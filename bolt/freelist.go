package bolt

import (
	"time"

	"go.etcd.io/bbolt"
)

// bbolt can write the list of free pages with each commit, or leave it out and search the whole
// file for them when it is opened next. Neither is right alone. The list is sorted and written anew
// each time: after a load of 1 million resources 347 changes a second against 1,345, after 10
// million 77 against 1,102. Without it, opening 10 million took 134 s. So the committer writes it
// while it is short, and leaves it out while it is long, as after large deletions or loads. It is
// also written before the file is closed, when the committer has been idle for a while, and after a
// commit that failed: only a crash during changes to such a file makes the next start read all of
// it.
const (
	longFreelist = 2_000       // free pages, up to which their list costs a commit less than 0.2 ms; with 16,000 it is about 1 ms
	idleTime     = time.Second // without a change until a list that was left out is written
)

// freelist is the committer's state of the list of free pages in its file.
type freelist struct {
	long   int           // free pages, up to which it is written
	idle   time.Duration // see idleTime
	absent bool          // the last commit has left it out
	wanted bool          // a commit has failed since
}

// decide is called before each commit. If asked is set the list is written however long it is.
func (f *freelist) decide(db *bbolt.DB, asked bool) {
	stats := db.Stats()
	db.NoFreelistSync = !asked && stats.FreePageN+stats.PendingPageN > f.long
}

// failed records that a commit has failed that may succeed another time, for instance because the
// disk was full. If the list is absent bbolt has just read the whole file for it, and would do so
// after each such failure.
func (f *freelist) failed() { f.wanted = f.absent }

// writeFreelist commits the list of free pages, and nothing else, if it is absent. A failure makes
// the store read-only, unless it is transient; then the list stays absent.
func (c *committer) writeFreelist() {
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
	_ = catchFault(func() error { return c.finish(btx, c.transaction(btx)) })
}
