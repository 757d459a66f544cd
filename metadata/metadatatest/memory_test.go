package metadatatest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"labshelf/metadata"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opener returns an Open for stores in memory, which can also reopen its own stores.
func opener() Open {
	var mu sync.Mutex
	opened := map[string]*Memory{}
	return func(dir string, now func() time.Time) (metadata.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if m, again := opened[dir]; again {
			opened[dir] = m.Reopen(now)
		} else {
			opened[dir] = NewMemory(now)
		}
		return opened[dir], nil
	}
}

func TestMemory(t *testing.T) { Run(t, opener()) }

// TestMemoryRunsTwice tests that the suite allows a function to run more than once.
func TestMemoryRunsTwice(t *testing.T) {
	open := opener()
	Run(t, func(dir string, now func() time.Time) (metadata.Store, error) {
		m, err := open(dir, now)
		return twice{m}, err
	})
}

// twice runs every function of an update first in a transaction that it rolls back.
type twice struct{ metadata.Store }

func (m twice) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	givenUp := errors.New("given up")
	err := m.Store.Update(ctx, func(tx *metadata.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return givenUp
	})
	if !errors.Is(err, givenUp) {
		return err
	}
	return m.Store.Update(context.WithoutCancel(ctx), fn)
}

// OpenMemory exports opener for tests in packages that import this package indirectly.
func OpenMemory() Open { return opener() }
