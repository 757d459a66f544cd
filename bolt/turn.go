package bolt

import "time"

// turn decides when an operation of UpdateBehind is carried out. It has a commit of its own, for which all others wait, so no
// two follow each other while somebody else waits, and together they take no more than half of the time. Steps of 500 objects,
// one after the other, let other writers wait for 51 ms at most; with pauses of 5 ms between them, for 16 ms.
type turn struct {
	over   time.Time // until then others alone have their turn, if one of them came
	others bool      // one of them has come since the last operation of UpdateBehind
}

// rest is how long those who called Update still have their turn.
func (t *turn) rest(now time.Time) time.Duration {
	if !t.others {
		return 0
	}
	return t.over.Sub(now)
}

// took notes a commit.
func (t *turn) took(behind bool, begun, ended time.Time) {
	if behind {
		*t = turn{over: ended.Add(ended.Sub(begun))}
		return
	}
	t.others = true
}

// next waits for an operation whose turn it is. It returns nil when the committer is to end and none is left.
func (c *committer) next() *operation {
	first, second := c.queue, c.behind
	var rested, quiet <-chan time.Time
	switch rest := c.turn.rest(time.Now()); {
	case rest > 0:
		second, rested = nil, time.After(rest)
	case c.turn.others:
		first, second = c.behind, c.queue
	}
	if c.free.absent {
		quiet = time.After(c.free.quiet)
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
		case <-rested:
			second, rested = c.behind, nil
		case <-quiet:
			c.listFree()
		case <-c.closing:
			return c.remaining()
		}
	}
}

// remaining returns one of the operations that were there when the committer was told to end, nil if none is left.
func (c *committer) remaining() *operation {
	select {
	case op := <-c.queue:
		return op
	case op := <-c.behind:
		return op
	default:
		return nil
	}
}
