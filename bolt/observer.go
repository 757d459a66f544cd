package bolt

import (
	"time"

	"go.etcd.io/bbolt"
)

// Commit is what there is to measure of one transaction that changed something, for Options.Observe.
type Commit struct {
	Operations int           // that shared the commit
	Waited     time.Duration // longest time of one of them in the queue
	Work       time.Duration // of running the operations, other attempts included
	Took       time.Duration // of the commit
	Synced     time.Duration // the part of Took in which pages were written and synced
	Failed     bool          // nothing was changed, or the outcome is unknown
}

// observer measures the batches of a committer, one at a time, for Options.Observe. A nil observer measures nothing.
type observer struct {
	report  func(Commit)
	began   time.Time
	current Commit
	wrote   bool // it came to a commit
}

func newObserver(report func(Commit)) *observer {
	if report == nil {
		return nil
	}
	return &observer{report: report}
}

// begin is called when a batch has been taken from the queue.
func (o *observer) begin(batch []*operation) {
	if o == nil {
		return
	}
	o.began, o.current, o.wrote = time.Now(), Commit{}, false
	for _, op := range batch {
		o.current.Waited = max(o.current.Waited, o.began.Sub(op.Queued))
	}
}

// commit calls do, which commits the transaction of so many operations.
func (o *observer) commit(btx *bbolt.Tx, operations int, do func() error) error {
	if o == nil {
		return do()
	}
	begun := time.Now()
	err := do()
	o.wrote = true
	o.current.Operations, o.current.Work, o.current.Took = operations, begun.Sub(o.began), time.Since(begun)
	stats := btx.Stats() // also once it has ended
	o.current.Synced, o.current.Failed = stats.GetWriteTime(), err != nil
	return err
}

// end is called when the outcome of the batch is known.
func (o *observer) end() {
	if o != nil && o.wrote {
		o.report(o.current)
	}
}
