package bolt

import (
	"time"

	"go.etcd.io/bbolt"
)

// bbolt can write the list of free pages with each commit, or omit it and search the whole file for
// free pages at the next open. Neither suits all cases. The list is sorted and written anew each
// time, which slows down every commit when it is long. Without the list, opening a large file takes
// minutes. So the committer writes the list while it is short, and omits it while it is long, as
// after large deletions or loads. The committer also writes it before the file is closed, after an
// idle time, and after a failed commit. So only a crash during changes makes the next start read
// the whole file.
const (
	longFreelist = 2_000       // free pages; writing a list of this length costs a commit less than 0.2 ms
	idleTime     = time.Second // without a change, after which an omitted list is written
)

// freelist is the committer's state of the list of free pages.
type freelist struct {
	long   int           // number of free pages up to which the list is written
	idle   time.Duration // see idleTime
	absent bool          // the last commit has omitted it
	wanted bool          // a commit has failed since then
}

// decide is called before each commit. If asked is set, the list is written regardless of its
// length.
func (f *freelist) decide(db *bbolt.DB, asked bool) {
	stats := db.Stats()
	db.NoFreelistSync = !asked && stats.FreePageN+stats.PendingPageN > f.long
}

// failed records a failed commit that may succeed later, for example because the disk was full. If
// the list is absent, bbolt has just read the whole file for it, and would do so after each such
// failure.
func (f *freelist) failed() { f.wanted = f.absent }

// writeFreelist commits only the list of free pages, if it is absent. A failure makes the store
// read-only, unless it is transient; then the list stays absent.
func (c *committer) writeFreelist() {
	defer func() { c.free.wanted = false }() // only one attempt
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
