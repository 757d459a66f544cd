package groupcommit

import "time"

// Commit is what there is to measure of one transaction that changed something.
type Commit struct {
	Operations int           // that shared the commit
	Waited     time.Duration // longest time of one of them in the queue
	Work       time.Duration // of running the operations, other attempts included, and of waiting for a lock that other processes hold
	Took       time.Duration // of the commit
	Synced     time.Duration // the part of Took in which what was changed was written and synced, as far as that can be told
	Failed     bool          // nothing was changed, or the outcome is unknown
}

// Observer measures the groups of a writer, one at a time. A nil Observer measures nothing.
type Observer struct {
	report  func(Commit)
	began   time.Time
	current Commit
	wrote   bool // it came to a commit
}

// NewObserver returns one that reports each commit when End is called, in the goroutine of the
// writer; nil where report is nil.
func NewObserver(report func(Commit)) *Observer {
	if report == nil {
		return nil
	}
	return &Observer{report: report}
}

// Begin is called when a group has been taken from the queue, of which one operation has waited
// since oldest.
func (o *Observer) Begin(oldest time.Time) {
	if o == nil {
		return
	}
	o.began, o.wrote = time.Now(), false
	o.current = Commit{Waited: o.began.Sub(oldest)}
}

// Commit calls do, which commits so many operations, and tells which part of that was syncing.
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

// Oldest returns since when the operation of a group has waited that waits longest.
func Oldest[T any](group []*Operation[T]) time.Time {
	oldest := group[0].Queued
	for _, op := range group[1:] {
		if op.Queued.Before(oldest) {
			oldest = op.Queued
		}
	}
	return oldest
}
