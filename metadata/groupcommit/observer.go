package groupcommit

import "time"

// Commit contains the measurements of one transaction that changed something.
type Commit struct {
	Operations int           // operations that shared the commit
	Waited     time.Duration // longest time of one of them in the queue
	Work       time.Duration // time for running the operations, including retries, and for waiting for locks of other processes
	Took       time.Duration // time of the commit
	Synced     time.Duration // part of Took for writing and syncing, as far as known
	Failed     bool          // nothing was changed, or the outcome is unknown
}

// Observer measures the groups of a writer, one at a time. A nil Observer measures nothing.
type Observer struct {
	report  func(Commit)
	began   time.Time
	current Commit
	wrote   bool // it reached a commit
}

// NewObserver returns an Observer that calls report for each commit, at End, in the goroutine of
// the writer. It returns nil if report is nil.
func NewObserver(report func(Commit)) *Observer {
	if report == nil {
		return nil
	}
	return &Observer{report: report}
}

// Begin is called when a group has been taken from the queue. oldest is the time when its oldest
// operation was queued.
func (o *Observer) Begin(oldest time.Time) {
	if o == nil {
		return
	}
	o.began, o.wrote = time.Now(), false
	o.current = Commit{Waited: o.began.Sub(oldest)}
}

// Commit calls the function do, which commits the given number of operations. synced returns the
// part of the time that was spent syncing.
func (o *Observer) Commit(operations int, do func() error, synced func() time.Duration) error {
	if o == nil {
		return do()
	}
	begun := time.Now()
	err := do()
	o.wrote = true
	o.current.Operations, o.current.Work, o.current.Took = operations, begun.Sub(o.began), time.Since(begun)
	o.current.Synced, o.current.Failed = min(synced(), o.current.Took), err != nil
	return err
}

// End is called when the outcome of the group is known.
func (o *Observer) End() {
	if o != nil && o.wrote {
		o.report(o.current)
	}
}

// Oldest returns the time when the oldest operation of a group was queued.
func Oldest[T any](group []*Operation[T]) time.Time {
	oldest := group[0].Queued
	for _, op := range group[1:] {
		if op.Queued.Before(oldest) {
			oldest = op.Queued
		}
	}
	return oldest
}
