package faults

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"labshelf/internal/testhome"
)

var (
	sizeFlag  = flag.String("size", cmp.Or(os.Getenv("FAULTS_SIZE"), "tiny"), "`SIZE` of the rows: none, tiny, short (the gate), long (before a release)")
	seedFlag  = flag.Uint64("seed", 0, "`NUMBER` that decides everything random (0: another one each time; 1 in a tiny row)")
	unitFlag  = flag.Int("unit", -1, "`NUMBER` of the one unit to try, with the seed of a row that failed")
	writeFlag = flag.Bool("write", false, "write the results of long rows into "+document+"; the tree must be committed")
)

// TestMain runs the child processes that rows start, too.
func TestMain(m *testing.M) {
	children := map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) int{
		childSlow: slowChild, childScript: scriptChild, childRecover: recoverChild, childInspect: inspectChild,
	}
	if len(os.Args) > 1 && children[os.Args[1]] != nil {
		os.Exit(children[os.Args[1]](context.Background(), os.Args[2:], os.Stdout, os.Stderr))
	}
	code := m.Run()
	_ = testhome.Remove()
	os.Exit(code)
}

// row is one kind of fault.
type row struct {
	name, unit        string
	tiny, short, long int      // sizes in units; 0 where the row itself finds out how many there are
	needs             []string // see missing
	run               func(context.Context, *trial) error
}

// size returns the size that the flag asks for. The detector of races makes the tiny ones smaller.
func (r row) size(t *testing.T) int {
	t.Helper()
	switch *sizeFlag {
	case "none":
		t.Skip("-size=none")
	case "long":
		return r.long
	case "short":
		return r.short
	case "tiny":
		if testing.Short() {
			return max(1, r.tiny/4)
		}
		return r.tiny
	}
	t.Fatalf("-size=%s: it is one of tiny, short, long", *sizeFlag)
	return 0
}

// try runs a row. Where it cannot run it is skipped, but not in CI. The directory of a row that
// failed stays.
func try(t *testing.T, r row) {
	t.Parallel()
	if err := missing(r.needs); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	tr := &trial{name: r.name, unit: r.unit, size: r.size(t), long: *sizeFlag == "long", only: *unitFlag, seed: *seedFlag, log: t.Logf}
	switch {
	case tr.seed != 0:
	case *sizeFlag == "tiny":
		tr.seed = 1
	default:
		tr.seed = rand.Uint64N(1_000_000_000) + 1
	}
	scratch := ""
	if slices.Contains(r.needs, "fuse") {
		scratch = inMemory()
	}
	var err error
	if tr.dir, err = os.MkdirTemp(scratch, "labshelf-faults-"+r.name+"-"); err != nil {
		t.Fatal(err)
	}
	code, begun := "", time.Now()
	if *writeFlag {
		if code, err = codeID(true); err != nil {
			t.Fatal(err)
		}
	}
	if err = r.run(t.Context(), tr); err == nil {
		err = t.Context().Err()
	}
	if err != nil {
		t.Fatalf("after %d %s, seed %d: %v; what it left is in %s", tr.done, tr.unit, tr.seed, err, tr.dir)
	}
	if err := os.RemoveAll(tr.dir); err != nil {
		t.Error(err)
	}
	t.Logf("%s (%v, seed %d)", tr.line(), since(begun), tr.seed)
	if *writeFlag && tr.long && tr.only < 0 {
		if err := tr.write(code, since(begun)); err != nil {
			t.Error(err)
		}
	}
}

// rowNames are the rows in the order of the table.
var rowNames = []string{"kill", "power", "harvest", "flips", "clock", "slow", "overload", "syscalls", "errors", "full", "states", "webhooks", "index"}

// TestKill: kill -9 while everything writes, reads, purges and backs up.
func TestKill(t *testing.T) {
	try(t, row{name: "kill", unit: "cycles", tiny: 3, short: 20, long: 1000, run: kill})
}

// TestHarvest: harvesters killed and resumed under 16 writers and restarts.
func TestHarvest(t *testing.T) {
	try(t, row{name: "harvest", unit: "changes", tiny: 300, short: 3000, long: 100_000, run: harvest})
}

// TestFlips: bit flips in blobs and metadata, and metadata cut off at each page.
func TestFlips(t *testing.T) {
	try(t, row{name: "flips", unit: "damages", tiny: 8, short: 100, long: 2000, run: flips})
}

// TestClock: a clock that goes back a day, ten years ahead and back, or stands.
func TestClock(t *testing.T) { try(t, row{name: "clock", unit: "clocks", run: clock}) }

// TestSlow: clients that send or take almost nothing, and idle connections, beside normal ones.
func TestSlow(t *testing.T) {
	try(t, row{name: "slow", unit: "idle connections", tiny: 100, short: 1000, long: 10_000, needs: []string{"linux"}, run: slow})
}

// TestOverload: callers that ask for as much work as they can, and what another caller notices.
func TestOverload(t *testing.T) {
	try(t, row{name: "overload", unit: "attacks", tiny: 7, short: 7, long: 7, needs: []string{"linux"}, run: overload})
}

// TestSyscalls: the program killed at every call of a fixed script, and while it recovers.
func TestSyscalls(t *testing.T) {
	try(t, row{name: "syscalls", unit: "points", tiny: 20, short: 100, needs: []string{"linux", "root", "fuse"}, run: syscalls})
}

// TestErrors: an I/O error at every sync and write, no space and a read-only file system at every
// write.
func TestErrors(t *testing.T) {
	try(t, row{name: "errors", unit: "points", tiny: 20, short: 120, needs: []string{"linux", "root", "fuse"}, run: ioErrors})
}

// TestFull: no space, no inodes, no descriptors, a read-only file system, under the real program.
func TestFull(t *testing.T) {
	needs := []string{"linux", "root", "fuse", "mount", "prlimit"}
	try(t, row{name: "full", unit: "shortages", tiny: 2, short: 4, long: 40, needs: needs, run: full})
}

// TestCrashStates checks the possible states of a disk after a power failure at any call of the
// script.
func TestCrashStates(t *testing.T) {
	try(t, row{name: "states", unit: "states", tiny: 60, short: 500, long: 10_000, needs: []string{"linux", "root", "fuse"}, run: states})
}

// TestWebhooks: receivers that drop, stall, answer 429 and 500, under kills.
func TestWebhooks(t *testing.T) {
	try(t, row{name: "webhooks", unit: "changes", tiny: 60, short: 500, long: 100_000, run: webhooks})
}

// TestUnits: a row with a size gets so many units, one without gets all.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tr   trial
		want string
	}{
		{"by size", trial{size: 3, only: -1}, "[0 1 2]"},
		{"all", trial{only: -1}, "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16]"},
		{"one", trial{size: 5, only: 3}, "[3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for i := range c.tr.units(t.Context(), 17) {
				got = append(got, i)
			}
			if fmt.Sprint(got) != c.want || c.tr.done != len(got) {
				t.Errorf("got %v, %d done, want %s", got, c.tr.done, c.want)
			}
		})
	}
}

func TestGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
