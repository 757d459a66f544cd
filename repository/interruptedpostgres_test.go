package repository_test

import (
	"bytes"
	"context"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/postgres"
)

// commits finds the commits among the messages of a proxy, and breaks the connection at one of
// them.
type commits struct {
	prepared map[string]bool // names of the statement; only the goroutine that calls rule uses it
	lose     atomic.Bool     // the next commit does not arrive
	answer   atomic.Bool     // the response to the next commit does not arrive
}

// rule decides about each message of a node, beginning with its first connection. The SQL of a
// statement is known only when it is prepared.
func (c *commits) rule(m servers.Message) servers.Verdict {
	of := bytes.Split(m.Body(), []byte{0})
	switch {
	case m.From == servers.Client && m.Type == 'P' && bytes.Equal(of[1], []byte("commit")):
		c.prepared[string(of[0])] = true
	case m.From == servers.Client && m.Type == 'B' && c.prepared[string(of[1])] && c.lose.CompareAndSwap(true, false),
		m.From == servers.Server && m.Type == 'C' && bytes.Equal(of[0], []byte("COMMIT")) && c.answer.CompareAndSwap(true, false):
		return servers.CutBefore
	}
	return servers.Pass
}

// interruptionsOfPostgres are the ways to interrupt a commit of a node that reaches its database
// through a proxy.
var interruptionsOfPostgres = map[string]interruption{
	"the commit is lost": func(i *interrupted, commit func() error) error {
		i.database.lose.Store(true)
		defer i.database.lose.Store(false)
		return commit()
	},
	"the answer to the commit is lost": func(i *interrupted, commit func() error) error {
		i.database.answer.Store(true)
		defer i.database.answer.Store(false)
		return commit()
	},
	"the database is cut off": func(i *interrupted, commit func() error) error {
		i.proxy.Rule(func(servers.Message) servers.Verdict { return servers.CutBefore })
		defer i.proxy.Rule(i.database.rule)
		return commit()
	},
	"the node is frozen, and its leases end": func(i *interrupted, commit func() error) error {
		i.proxy.Pause()
		i.endLeases(func(metadata.Lease, metadata.Stamp) bool { return true })
		i.proxy.Resume()
		return commit()
	},
	"the set is deleted": interruptions["the set is deleted"],
}

// TestRefusedOperationChangesNothingOnPostgres is like TestRefusedOperationChangesNothing, with two
// nodes on a database, and real faults of the connection. It interrupts one commit of some
// operations, drawn by a seed. INTERRUPTED=SEED repeats a run. INTERRUPTED=all interrupts each
// commit of each operation in each way.
func TestRefusedOperationChangesNothingOnPostgres(t *testing.T) {
	t.Parallel()
	server := servers.StartPostgres(t)
	address := server.Database(t)
	open := func(t *testing.T, address string) *postgres.Store {
		s, err := postgres.Open(context.Background(), address, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	made := open(t, address)
	template := interruptedWorld(t, made)
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	asked := os.Getenv("INTERRUPTED")
	seed, err := strconv.ParseUint(asked, 10, 64)
	if err != nil {
		seed = rand.Uint64N(1_000_000)
	}
	t.Logf("seed %d", seed)
	drawn := 5 // one out of this many pairs of an operation and an interruption is tried
	if testing.Short() {
		drawn = 25
	}
	try := func(t *testing.T, o operation, how interruption, at int) bool {
		proxy, copied := servers.StartProxy(t, server.Addr()), server.Copy(t, address)
		database := &commits{prepared: map[string]bool{}}
		proxy.Rule(database.rule)
		direct, ofA := open(t, copied), open(t, proxy.Route(copied))
		more := (&interrupted{meta: direct, proxy: proxy, database: database, how: how, at: at}).try(t, template, ofA, o)
		if strings.HasSuffix(t.Name(), "lost") && proxy.Cuts() == 0 && more {
			t.Errorf("commit %d: no connection was cut", at)
		}
		if err := ofA.Close(); err != nil {
			t.Error(err)
		}
		if err := direct.Close(); err != nil {
			t.Error(err)
		}
		return more
	}
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		for how, interrupt := range interruptionsOfPostgres {
			sum := fnv.New64a()
			_, _ = sum.Write([]byte(name + how))
			random := rand.New(rand.NewPCG(seed, sum.Sum64()))
			if asked == "all" {
				t.Run(name+", "+how, func(t *testing.T) {
					t.Parallel()
					for at, more := 1, true; more && at <= mostInterrupted; at++ {
						more = try(t, operations[name], interrupt, at)
					}
				})
			} else if random.IntN(drawn) == 0 {
				t.Run(name+", "+how, func(t *testing.T) {
					t.Parallel()
					if at := 1 + random.IntN(3); !try(t, operations[name], interrupt, at) && at > 1 {
						try(t, operations[name], interrupt, 1) // the operation has fewer commits than the drawn number
					}
				})
			}
		}
	}
}
