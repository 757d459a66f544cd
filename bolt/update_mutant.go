//go:build mutant_stamp

package bolt

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"labshelf/repository"
)

// early gives out the stamps of the mutant, to all stores.
var early struct {
	sync.Mutex
	last repository.Stamp
}

func earlyStamp() repository.Stamp {
	early.Lock()
	defer early.Unlock()
	early.last = repository.NextStamp(early.last, time.Now())
	return early.last
}

// Update is wrong on purpose, to show that the tests of the guarantees notice: it takes the stamp when it is called, before
// the change gets its place among the others.
func (s *Store) Update(ctx context.Context, fn func(*repository.Tx) error) error {
	taken := earlyStamp()
	time.Sleep(time.Duration(rand.IntN(2)) * time.Millisecond) // what a request does in between, such as reading a body
	return s.committer.do(ctx, s.committer.queue, func(tx *repository.Tx) error {
		next, inTime := taken, tx.Stamp
		tx.Stamp = func() repository.Stamp {
			inTime()
			stamp := next
			next = earlyStamp()
			return stamp
		}
		return fn(tx)
	})
}
