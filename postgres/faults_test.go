package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/postgres"
)

// promised checks the operation that put the nth resource. An acknowledged resource must exist, and
// a refused one must not. If the outcome is unknown, it may exist.
func promised(t *testing.T, s metadata.Reader, n int, answer error) {
	t.Helper()
	err := s.View(context.Background(), func(tx *metadata.Tx) error {
		_, err := tx.Resources.Get(metadatatest.IDAt('R', n))
		return err
	})
	switch {
	case err != nil && !errors.Is(err, metadata.ErrNotFound):
		t.Fatal(err)
	case answer == nil && err != nil:
		t.Errorf("resource %d was acknowledged, but is missing", n)
	case answer != nil && !errors.Is(answer, metadata.ErrOutcomeUnknown) && err == nil:
		t.Errorf("resource %d was refused (%v), but exists", n, answer)
	case answer != nil && !errors.Is(answer, metadata.ErrOutcomeUnknown) && !errors.Is(answer, metadata.ErrUnavailable):
		t.Errorf("resource %d: %v", n, answer)
	}
}

// TestCutAtEachMessage cuts the connections of a node before and after each message of either side
// in turn, until an operation completes before the cut. The node must recover automatically.
func TestCutAtEachMessage(t *testing.T) {
	t.Parallel()
	server := servers.StartPostgres(t)
	address := server.Database(t)
	direct := open(t, address)
	for _, verdict := range []servers.Verdict{servers.CutBefore, servers.CutAfter} {
		for _, side := range []servers.Side{servers.Client, servers.Server} {
			t.Run(fmt.Sprint(verdict, side), func(t *testing.T) { cutEach(t, server, address, direct, verdict, side) })
		}
	}
}

var next struct {
	sync.Mutex
	n int
}

// number returns a number that no other resource has.
func number() int {
	next.Lock()
	defer next.Unlock()
	next.n++
	return next.n
}

func cutEach(t *testing.T, server *servers.Postgres, address string, direct *postgres.Store, verdict servers.Verdict, side servers.Side) {
	proxy := servers.StartProxy(t, server.Addr())
	// otherwise a background connection could be cut instead of the connection of the commit
	s := open(t, proxy.Route(address)+"&pool_max_conns=1")
	if err := s.Update(t.Context(), put(number(), "warm")); err != nil {
		t.Fatal(err)
	}
	unknown, refused := 0, 0
	for at := 0; ; at++ {
		before, n := proxy.Cuts(), number()
		proxy.CutAt(at, verdict, func(m servers.Message) bool { return m.From == side })
		err := s.Update(t.Context(), put(n, "cut"))
		cut := proxy.Cuts() > before
		proxy.CutAt(0, verdict, func(servers.Message) bool { return false })
		promised(t, direct, n, err)
		switch {
		case errors.Is(err, metadata.ErrOutcomeUnknown):
			unknown++
		case err != nil:
			refused++
		}
		if err := s.View(t.Context(), func(tx *metadata.Tx) error { tx.Access(); return nil }); err != nil {
			t.Errorf("the next view: %v", err)
		}
		if !cut {
			t.Logf("%d messages; %d outcomes unknown, %d refused", at, unknown, refused)
			break
		}
	}
	if unknown == 0 {
		t.Error("no cut hit a commit")
	}
}

// rounds returns the number of times that a server is broken. It is larger with FAULTS_SIZE=long.
func rounds() int {
	if os.Getenv("FAULTS_SIZE") == "long" {
		return 50
	}
	return 2
}

// TestKilledServer kills the server during many writes, and restarts it. All acknowledged changes
// must exist.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	server := servers.StartPostgres(t)
	s := open(t, server.Database(t))
	for range rounds() {
		killed(t, s, func() error { return errors.Join(server.Kill(), server.Start()) })
	}
}

// killed writes from many goroutines until each has failed once. It breaks the server after some
// writes have been acknowledged, and then checks all writes. Afterwards the store must accept
// changes again.
func killed(t *testing.T, s *postgres.Store, breaks func() error) {
	t.Helper()
	type answer struct {
		n   int
		err error
	}
	const writers = 8
	answers := make(chan answer, 10000)
	var group sync.WaitGroup
	enough := make(chan struct{}, writers*10)
	for range writers {
		group.Go(func() {
			for {
				n := number()
				err := s.Update(context.Background(), put(n, "r"))
				answers <- answer{n, err}
				if err != nil {
					return
				}
				select {
				case enough <- struct{}{}:
				default:
				}
			}
		})
	}
	for range writers * 5 {
		<-enough
	}
	if err := breaks(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	close(answers)
	for err := error(metadata.ErrUnavailable); err != nil; {
		if err = s.Update(context.Background(), put(number(), "after")); err != nil && !errors.Is(err, metadata.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	acknowledged, unknown := 0, 0
	for a := range answers {
		promised(t, s, a.n, a.err)
		if a.err == nil {
			acknowledged++
		} else if errors.Is(a.err, metadata.ErrOutcomeUnknown) {
			unknown++
		}
	}
	t.Logf("%d acknowledged, %d unknown", acknowledged, unknown)
}

// TestFailover promotes a synchronous standby after the server has died. All acknowledged changes
// must exist.
func TestFailover(t *testing.T) {
	t.Parallel()
	for range rounds() {
		t.Run("promoted", failover)
	}
}

func failover(t *testing.T) {
	primary := servers.StartPostgres(t)
	address := primary.Database(t)
	standby := primary.Standby(t, true)
	proxy := servers.StartProxy(t, primary.Addr())
	s := open(t, proxy.Route(address))
	killed(t, s, func() error {
		err := errors.Join(primary.Kill(), standby.Promote())
		proxy.Redirect(standby.Addr())
		return err
	})
}

// TestWaitGivenUp makes the server stop waiting for a synchronous standby. It is then unknown
// whether the commit survives a failure of the server.
func TestWaitGivenUp(t *testing.T) {
	t.Parallel()
	primary := servers.StartPostgres(t)
	address := primary.Database(t)
	standby := primary.Standby(t, true)
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := standby.Kill(); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error, 1)
	go func() { answer <- s.Update(context.Background(), put(number(), "r")) }()
	for given := ""; given == ""; {
		given, err = primary.Query(t.Context(), address, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := <-answer; !errors.Is(err, metadata.ErrOutcomeUnknown) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
	if err := errors.Join(s.Close(), primary.Kill()); err != nil {
		t.Error(err)
	}
}
