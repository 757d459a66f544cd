package groupcommit

import "time"

// fairness decides when an operation of UpdateBackground (background) runs between the operations
// of Update (foreground). A background operation has its own commit, for which all others wait. So
// no two background operations follow each other while a foreground operation waits, and background
// operations take at most half of the time.
type fairness struct {
	foregroundUntil time.Time // until then only foreground operations run, if foregroundCame
	foregroundCame  bool      // a foreground operation has run since the last background operation
}

// pause returns how long background operations must still wait.
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
