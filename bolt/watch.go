package bolt

import (
	"time"

	"go.etcd.io/bbolt"
)

// Commit is what there is to measure of one transaction that changed something, for Options.Watch.
type Commit struct {
	Operations int           // that shared it
	Waited     time.Duration // of the operation that had been in the queue for longest
	Work       time.Duration // what the operations took, those of other attempts included
	Took       time.Duration // committing what they did
	Synced     time.Duration // the part of that in which pages were written and brought to stable storage
	Failed     bool          // nothing of it counts, or nobody knows whether it does
}

// watch measures the batches of a committer, one at a time, for who asked for it. A nil watch measures nothing.
type watch struct {
	tell  func(Commit)
	began time.Time
	now   Commit
	wrote bool // it came to a commit
}

func newWatch(tell func(Commit)) *watch {
	if tell == nil {
		return nil
	}
	return &watch{tell: tell}
}

// queued is the time at which an operation joins the queue.
func (w *watch) queued() (at time.Time) {
	if w != nil {
		at = time.Now()
	}
	return at
}

// begin is called when a batch has been taken from the queue.
func (w *watch) begin(batch []*operation) {
	if w == nil {
		return
	}
	w.began, w.now, w.wrote = time.Now(), Commit{}, false
	for _, op := range batch {
		w.now.Waited = max(w.now.Waited, w.began.Sub(op.queued))
	}
}

// commit calls do, which commits the transaction of so many operations.
func (w *watch) commit(btx *bbolt.Tx, operations int, do func() error) error {
	if w == nil {
		return do()
	}
	begun := time.Now()
	err := do()
	w.wrote = true
	w.now.Operations, w.now.Work, w.now.Took = operations, begun.Sub(w.began), time.Since(begun)
	stats := btx.Stats() // also once it has ended
	w.now.Synced, w.now.Failed = stats.GetWriteTime(), err != nil
	return err
}

// end is called when the outcome of the batch is known.
func (w *watch) end() {
	if w != nil && w.wrote {
		w.tell(w.now)
	}
}

// Stats is how the file of a Store is at one moment.
type Stats struct {
	Bytes     int64 // its length
	FreePages int64 // of those, pages that hold nothing, or nothing that is still needed once the transactions under way have ended
	PageSize  int64 // bytes of each
	Reading   int64 // read transactions under way
}

// Stats looks at the file.
func (s *Store) Stats() (Stats, error) {
	info, err := s.file.Stat()
	if err != nil {
		return Stats{}, err
	}
	counted := s.db.Stats()
	return Stats{
		Bytes: info.Size(), FreePages: int64(counted.FreePageN + counted.PendingPageN), PageSize: int64(s.db.Info().PageSize),
		Reading: int64(counted.OpenTxN),
	}, nil
}
