package bolt

import "time"

// fairQueue decides when an operation of UpdateBackground (background) runs between those of Update (foreground). It has a commit of its
// own, for which all others wait, so no two follow each other while a foreground operation waits, and together they take no more than
// half of the time. With back-to-back cascade batches of 500 objects other writers wait for 51 ms at most; with pauses of 5 ms between
// them, for 16 ms.
type fairQueue struct {
	foregroundUntil time.Time // until then only foreground operations run, if foregroundCame
	foregroundCame  bool      // one has run since the last background operation
}

// pause is how long background operations still have to wait.
func (q *fairQueue) pause(now time.Time) time.Duration {
	if !q.foregroundCame {
		return 0
	}
	return q.foregroundUntil.Sub(now)
}

// committed records a commit.
func (q *fairQueue) committed(background bool, begun, ended time.Time) {
	if background {
		*q = fairQueue{foregroundUntil: ended.Add(ended.Sub(begun))}
		return
	}
	q.foregroundCame = true
}

// next waits for the operation to run next. It returns nil when the committer is to end and none is left.
func (c *committer) next() *operation {
	first, second := c.queue, c.background
	var paused, idle <-chan time.Time
	switch pause := c.fair.pause(time.Now()); {
	case pause > 0:
		second, paused = nil, time.After(pause)
	case c.fair.foregroundCame:
		first, second = c.background, c.queue
	}
	if c.free.absent {
		idle = time.After(c.free.idle)
	}
	for {
		select {
		case op := <-first:
			return op
		default:
		}
		select {
		case op := <-first:
			return op
		case op := <-second:
			return op
		case <-paused:
			second, paused = c.background, nil
		case <-idle:
			c.writeFreelist()
		case <-c.closing:
			return c.remaining()
		}
	}
}

// remaining returns one of the operations that were queued before the committer was closed, nil if none is left.
func (c *committer) remaining() *operation {
	select {
	case op := <-c.queue:
		return op
	case op := <-c.background:
		return op
	default:
		return nil
	}
}
