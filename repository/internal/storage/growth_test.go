package storage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"labshelf/bolt"
	"labshelf/formats/audit"
	"labshelf/metadata"
)

// counting is a store that counts the log entries read from it. Its commits can be made to fail.
type counting struct {
	metadata.Store
	reads  atomic.Int64
	broken atomic.Bool // each commit succeeds, but reports an unknown outcome
}

type countingLog struct {
	metadata.AuditLog
	reads *atomic.Int64
}

func (l countingLog) Entry(number uint64) (audit.Entry, error) {
	l.reads.Add(1)
	return l.AuditLog.Entry(number)
}

func (s *counting) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Store.ViewDurable(ctx, func(tx *metadata.Tx) error {
		tx.Audit = countingLog{tx.Audit, &s.reads}
		return fn(tx)
	})
}

func (s *counting) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	err := s.Store.Update(ctx, fn)
	if err == nil && s.broken.Load() {
		err = metadata.ErrOutcomeUnknown
	}
	return err
}

// growth is a store in a file that followers read.
type growth struct {
	*testing.T
	under *counting
	over  metadata.Store
	grown atomic.Int64
	begun uint64 // number of log entries in a new store
}

func newGrowth(t *testing.T) *growth {
	t.Helper()
	meta, err := bolt.Open(filepath.Join(t.TempDir(), "meta.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := meta.Close(); err != nil {
			t.Error(err)
		}
	})
	g := &growth{T: t, under: &counting{Store: meta}}
	g.over = Growing(g.under, func() { g.grown.Add(1) })
	g.begun = g.follow(0)
	g.under.reads.Store(0)
	return g
}

// log appends entries in one commit. Each entry has different values.
func (g *growth) log(about string, entries int, last error) error {
	return g.over.Update(g.Context(), func(tx *metadata.Tx) error {
		for n := range entries {
			e := audit.Entry{Action: audit.SetUpdate, Stamp: int64(tx.Stamp()), Values: fmt.Sprintf("%s %d", about, n)}
			if _, err := tx.Log(e, "a text", ""); err != nil {
				return err
			}
		}
		return last
	})
}

// follow reads the log like a follower, beginning with the given entry. It compares the entries
// with the stored ones, and returns the size of the log.
func (g *growth) follow(from uint64) (size uint64) {
	g.Helper()
	err := g.over.ViewDurable(g.Context(), func(tx *metadata.Tx) error {
		log, err := tx.Audit.State()
		if err != nil {
			return err
		}
		for size = from; size < log.Size; size++ {
			got, err := tx.Audit.Entry(size)
			if err != nil {
				return err
			}
			row, err := tx.Audit.Get(size)
			if err != nil {
				return err
			}
			if want, err := row.Entry(); err != nil || got != want {
				return fmt.Errorf("entry %d is %+v, %w; want %+v", size, got, err, want)
			}
		}
		if e, err := tx.Audit.Entry(size); !errors.Is(err, metadata.ErrNotFound) {
			return fmt.Errorf("behind %d entries: %+v, %v; want %w", size, e, err, metadata.ErrNotFound)
		}
		return nil
	})
	if err != nil {
		g.Error(err)
	}
	return size
}

// wantReads compares the number of entries read from the store since the last call. A follower also
// reads the entry after the last one.
func (g *growth) wantReads(about string, want int) {
	g.Helper()
	if got := g.under.reads.Swap(0); got != int64(want) {
		g.Errorf("%s: %d entries were read from the store, want %d", about, got, want)
	}
}

// TestFollowersShareEntries: followers do not read entries of this process from the store.
func TestFollowersShareEntries(t *testing.T) {
	t.Parallel()
	g := newGrowth(t)
	for n := range 5 {
		if err := g.log(fmt.Sprint("commit ", n), 10, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		g.follow(g.begun)
	}
	g.wantReads("four followers", 4*1)
	if got := g.grown.Load(); got != 5 {
		t.Errorf("the log has grown %d times, want 5", got)
	}
	if err := g.over.Update(t.Context(), func(*metadata.Tx) error { return nil }); err != nil || g.grown.Load() != 5 {
		t.Errorf("a commit without an entry: %v, and the log has grown %d times", err, g.grown.Load())
	}
}

// TestFollowerFallsBehind: a follower reads entries from the store if later ones have replaced them
// in memory, or if their values are long.
func TestFollowerFallsBehind(t *testing.T) {
	t.Parallel()
	g := newGrowth(t)
	const behind = 10
	for n := range 3 {
		if err := g.log(fmt.Sprint("commit ", n), maxRecent-1, nil); err != nil {
			t.Fatal(err)
		}
	}
	size := g.follow(g.begun + 2*(maxRecent-1) - 1 - behind)
	g.wantReads("after it was overtaken", behind+1)
	g.follow(g.begun)
	g.wantReads("from the beginning", 2*maxRecent-3+1)
	if err := g.log("one commit", maxRecent+behind, nil); err != nil {
		t.Fatal(err)
	}
	size = g.follow(size)
	g.wantReads("of one commit with more entries than memory holds", behind+1)
	if err := errors.Join(g.log(strings.Repeat("x", maxRecentValues), 1, nil), g.log("short", 1, nil)); err != nil {
		t.Fatal(err)
	}
	g.follow(size)
	g.wantReads("with long values", 1+1)
}

// TestUncommittedEntriesAreNotKept: if a commit failed or its outcome is unknown, its entries are
// read from the store.
func TestUncommittedEntriesAreNotKept(t *testing.T) {
	t.Parallel()
	g := newGrowth(t)
	errRefused := errors.New("refused")
	if err := g.log("refused", 3, errRefused); !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	if size := g.follow(g.begun); size != g.begun {
		t.Errorf("%d entries, want %d", size, g.begun)
	}
	g.wantReads("of a refused operation", 1)
	g.under.broken.Store(true)
	if err := g.log("unknown", 3, nil); !errors.Is(err, metadata.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	g.under.broken.Store(false)
	if size := g.follow(g.begun); size != g.begun+3 {
		t.Errorf("%d entries, want %d", size, g.begun+3)
	}
	g.wantReads("of an unknown outcome", 3+1)
	if got := g.grown.Load(); got != 0 {
		t.Errorf("the log has grown %d times, want 0", got)
	}
}

// TestOtherProcessesEntries: entries of other processes are read from the store.
func TestOtherProcessesEntries(t *testing.T) {
	t.Parallel()
	g := newGrowth(t)
	other := &growth{T: t, under: g.under, over: Growing(g.under, func() {})}
	for n := range 6 {
		by := []*growth{g, other}[n%2]
		if err := by.log(fmt.Sprint("commit ", n), 5, nil); err != nil {
			t.Fatal(err)
		}
	}
	g.follow(g.begun)
	g.wantReads("half are of another process", 3*5+1)
}

// TestConcurrentFollowers: while many goroutines commit, and some commits fail after they have
// logged, each follower reads the stored entries.
func TestConcurrentFollowers(t *testing.T) {
	t.Parallel()
	g := newGrowth(t)
	const writers, commits, followers = 16, 40, 4
	errRefused := errors.New("refused")
	var writing, reading sync.WaitGroup
	var written atomic.Uint64
	for w := range writers {
		writing.Go(func() {
			for n := range commits {
				var want error
				if n%8 == 7 {
					want = errRefused
				}
				if err := g.log(fmt.Sprintf("writer %d, commit %d", w, n), n%3, want); !errors.Is(err, want) {
					t.Error(err)
				}
				if want == nil {
					written.Add(uint64(n % 3))
				}
			}
		})
	}
	done := make(chan struct{})
	for range followers {
		reading.Go(func() {
			for at, last := g.begun, false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				at = g.follow(at)
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	g.under.reads.Store(0)
	if got, want := g.follow(g.begun), g.begun+written.Load(); got != want {
		t.Errorf("%d entries, want %d", got, want)
	}
	g.wantReads("afterwards", 1)
}

// TestRecentIsBounded: the entries in memory take at most 1400 KiB.
func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1400 << 10
	entry := unsafe.Sizeof(recentEntry{}) + maxRecentValues
	if got := unsafe.Sizeof(recent{}) + maxRecent*entry; got > most {
		t.Errorf("%d entries of %d bytes: %d bytes, want at most %d", maxRecent, entry, got, most)
	}
}
