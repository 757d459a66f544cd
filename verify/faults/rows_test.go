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
	seedFlag  = flag.Uint64("seed", 0, "`NUMBER` that seeds all random choices (0: random, but 1 in a tiny row)")
	unitFlag  = flag.Int("unit", -1, "`NUMBER` of the only unit to run, with the seed of a failed row")
	writeFlag = flag.Bool("write", false, "write the results of long rows to "+document+"; the tree must be committed")
)

// TestMain also runs the child processes of the rows.
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
	tiny, short, long int      // sizes in units; 0: all units
	needs             []string // see missing
	run               func(context.Context, *trial) error
}

// size returns the size for -size. With -short, such as under the race detector, tiny rows are
// smaller.
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
	t.Fatalf("-size=%s: want none, tiny, short or long", *sizeFlag)
	return 0
}

// try runs a row. It skips a row without its tools, or fails it in CI. The directory of a failed
// row remains.
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
		t.Fatalf("after %d %s, seed %d: %v; the files of the row are in %s", tr.done, tr.unit, tr.seed, err, tr.dir)
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

// rowNames lists the rows in the order of the table.
var rowNames = []string{"kill", "power", "harvest", "flips", "clock", "slow", "overload", "syscalls", "errors", "full", "states", "webhooks", "index"}

// TestKill kills the service during writes, reads, purges and backups.
func TestKill(t *testing.T) {
	try(t, row{name: "kill", unit: "cycles", tiny: 3, short: 20, long: 1000, run: kill})
}

// TestHarvest kills and resumes harvesters during 16 writers and restarts.
func TestHarvest(t *testing.T) {
	try(t, row{name: "harvest", unit: "changes", tiny: 300, short: 3000, long: 100_000, run: harvest})
}

// TestFlips flips bits in blobs and metadata, and truncates the metadata at each page.
func TestFlips(t *testing.T) {
	try(t, row{name: "flips", unit: "damages", tiny: 8, short: 100, long: 2000, run: flips})
}

// TestClock tests a clock that goes back a day, goes ten years ahead and back, or stops.
func TestClock(t *testing.T) { try(t, row{name: "clock", unit: "clocks", run: clock}) }

// TestSlow runs clients that send or read almost no bytes, and idle connections, next to normal
// clients.
func TestSlow(t *testing.T) {
	try(t, row{name: "slow", unit: "idle connections", tiny: 100, short: 1000, long: 10_000, needs: []string{"linux"}, run: slow})
}

// TestOverload runs callers that cause as much work as they can, and measures the effect on another
// caller.
func TestOverload(t *testing.T) {
	try(t, row{name: "overload", unit: "attacks", tiny: 7, short: 7, long: 7, needs: []string{"linux"}, run: overload})
}

// TestSyscalls kills the program at every call of a fixed script, and during its recovery.
func TestSyscalls(t *testing.T) {
	try(t, row{name: "syscalls", unit: "points", tiny: 20, short: 100, needs: []string{"linux", "root", "fuse"}, run: syscalls})
}

// TestErrors causes an I/O error at every sync and write, and a full or read-only file system at
// every write.
func TestErrors(t *testing.T) {
	try(t, row{name: "errors", unit: "points", tiny: 20, short: 120, needs: []string{"linux", "root", "fuse"}, run: ioErrors})
}

// TestFull runs the real program without space, inodes or descriptors, or on a read-only file
// system.
func TestFull(t *testing.T) {
	needs := []string{"linux", "root", "fuse", "mount", "prlimit"}
	try(t, row{name: "full", unit: "shortages", tiny: 2, short: 4, long: 40, needs: needs, run: full})
}

// TestCrashStates checks the possible states of a disk after a power failure at any call of the
// script.
func TestCrashStates(t *testing.T) {
	try(t, row{name: "states", unit: "states", tiny: 60, short: 500, long: 10_000, needs: []string{"linux", "root", "fuse"}, run: states})
}

// TestWebhooks tests receivers that close the connection, stall, or answer 429 or 500, while the
// service is killed.
func TestWebhooks(t *testing.T) {
	try(t, row{name: "webhooks", unit: "changes", tiny: 60, short: 500, long: 100_000, run: webhooks})
}

// TestUnits tests that a row with a size runs as many units, and a row without a size runs all.
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
