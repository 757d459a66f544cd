// Command faults breaks the real program in every way that we know, and looks at what is left. docs/reliability.md says what
// the rows mean, and holds what came out.
//
//	go run ./verify/faults                   # lists the rows
//	go run ./verify/faults -short all        # each in its short size, as .ci/run does
//	go run ./verify/faults -write kill       # the long size; the result goes to docs/reliability.md
//
// A long row that was interrupted, or has used up its time, goes on with the same command.
//
// Exit codes: 0 ok, 1 something was lost or could not be done, 2 usage, 3 a long row is not finished yet.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// row is one test.
type row struct {
	name, shows string
	unit        string   // what its size counts, in the plural
	short, long int      // sizes; 0 where the row itself finds out how much there is
	needs       []string // see missing
	stage       bool     // .ci/run has it as a stage of its own, so that all leaves it out there
	code        []string // what it tests, beside its own: paths whose change obliges to repeat it
	run         func(context.Context, *trial) error
}

// rows are all there are, in the order of docs/reliability.md.
func rows() []row {
	return []row{
		{
			name: "kill", shows: "kill -9 while everything writes, reads, purges and backs up", unit: "cycles", short: 30, long: 1000,
			code: program(), run: kill,
		},
		{
			name: "power", shows: "power cuts under the same load, on ext4 and XFS", unit: "cuts", short: 10, long: 500,
			needs: []string{"linux", "root", "loop", "mkfs.ext4", "mkfs.xfs"}, code: program(), run: power,
		},
		{
			name: "harvest", shows: "harvesters killed and resumed under 16 writers and restarts", unit: "changes", short: 5000, long: 100_000,
			code: program(), run: harvest,
		},
		{
			name: "flips", shows: "bit flips in blobs and metadata, and metadata cut off at each page", unit: "damages", short: 100, long: 2000,
			code: program(), run: flips,
		},
		{
			name: "clock", shows: "a clock that goes back a day, ten years ahead and back, or stands", unit: "clocks", code: program(), run: clock,
		},
		{
			name: "slow", shows: "clients that send or take almost nothing, and idle connections, beside normal ones", unit: "idle connections",
			short: 1000, long: 10_000, needs: []string{"linux"}, code: program(), run: slow,
		},
		{
			name: "fuzz", shows: "what strangers send: each fuzz target for 5 seconds, or 3 minutes", unit: "targets", code: program(), run: fuzz,
			stage: true,
		},
		{
			name: "mutants", shows: "faults made on purpose, each found by a test", unit: "runs of the stage", code: program(), run: mutants,
			stage: true,
		},
		{
			name: "syscalls", shows: "the program killed at every call of a fixed script, and while it recovers", unit: "points",
			needs: []string{"linux", "root", "fuse"}, code: stores(), run: syscalls,
		},
		{
			name: "errors", shows: "an I/O error at every sync and write, no space and a read-only file system at every write", unit: "points",
			needs: []string{"linux", "root", "fuse"}, code: stores(), run: ioErrors,
		},
		{
			name: "full", shows: "no space, no inodes, no descriptors, a read-only file system, under the real program", unit: "shortages",
			short: 4, long: 40, needs: []string{"linux", "root", "fuse", "mount", "prlimit"}, code: program(), run: full,
		},
		{
			name: "model", shows: "random changes, crashes, purges, backups and restorations against a model", unit: "operations",
			short: 5000, long: 100_000, code: stores(), run: model,
		},
		{
			name: "states", shows: "what a disk may hold after a power cut at any call of the script", unit: "states", short: 500, long: 10_000,
			needs: []string{"linux", "root", "fuse"}, code: stores(), run: states,
		},
		{ // at the end: the stage race of .ci/run has mostly compiled by then what it needs
			name: "purge", shows: "uploads against purges of the same files, under the race detector", unit: "seconds", short: 10, long: 600,
			needs: []string{"gcc"}, code: stores(), run: purge,
		},
	}
}

// program is the code of the executable, but for what is not between a request and the disk: beside.
func program() []string {
	return []string{
		"main.go", "go.mod", "archive", "auth", "backup", "blobs", "bolt", "cli", "handlers", "metrics", "paging", "repository",
		"client/client.go", "client/upkeep.go", // all that the commands for the care of data use
	}
}

// beside is what the executable holds and no row meets: the pages, which are only sent to browsers, the samples, and the commands
// that people use, which meet a service only through its interface.
func beside() []string { return []string{"commands", "demo", "web"} }

// stores is the code that writes and recovers.
func stores() []string {
	return []string{"go.mod", "auth", "blobs", "bolt", "paging", "repository"}
}

// options are what the command line says.
type options struct {
	short, write   bool
	seed           uint64
	offset         int
	state, scratch string
	limit          time.Duration
	names          []string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	if child, ok := children()[firstOf(args)]; ok {
		return child(ctx, args[1:], stdout, stderr)
	}
	o := options{}
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.short, "short", false, "the sizes of .ci/run")
	flags.BoolVar(&o.write, "write", false, "write the results of long rows into "+document+"; the tree must be committed")
	flags.Uint64Var(&o.seed, "seed", 0, "`NUMBER` that decides everything random (default: another one each time)")
	flags.IntVar(&o.offset, "offset", -1, "`NUMBER` of the first point, where short rows take every seventh (default: from the seed)")
	flags.StringVar(&o.state, "state", "", "`DIR` that keeps how far long rows have come (default: faults/state)")
	flags.StringVar(&o.scratch, "dir", "", "`DIR` for the data directories that are broken (default: the system's for temporary files)")
	flags.DurationVar(&o.limit, "limit", 30*time.Minute, "`TIME` after which a long row stops, to go on with the next call")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	o.names = flags.Args()
	if o.seed == 0 {
		o.seed = rand.Uint64N(1_000_000_000) + 1
	}
	chosen, err := choose(o.names, o.short)
	switch {
	case err != nil:
	case o.short && o.write:
		err = errors.New("only long rows are written down")
	case len(chosen) == 0:
		list(stdout)
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "faults:", err)
		return 2
	}
	return runAll(ctx, o, chosen, stdout)
}

// runAll runs one row after the other. One that fails does not keep the others from running.
func runAll(ctx context.Context, o options, chosen []row, stdout io.Writer) (code int) {
	for _, r := range chosen {
		err := runRow(ctx, o, r, stdout)
		switch {
		case err == nil:
		case errors.Is(err, errUnfinished):
			_, _ = fmt.Fprintf(stdout, "%s: %v\n", r.name, err)
			code = max(code, 3)
		default:
			_, _ = fmt.Fprintf(stdout, "%s: FAILED: %v\n", r.name, err)
			code = 1
		}
		if ctx.Err() != nil {
			return 1
		}
		if code == 1 && !o.short {
			return code
		}
	}
	return code
}

// choose returns the rows with these names, in the order of the table. A brief all leaves out what .ci/run does anyway.
func choose(names []string, brief bool) (chosen []row, err error) {
	all := slices.Contains(names, "all")
	known := []string{"all"}
	for _, r := range rows() {
		known = append(known, r.name)
		if all && !(brief && r.stage) || slices.Contains(names, r.name) {
			chosen = append(chosen, r)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no row %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// list prints the table, with the results that are written down.
func list(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ROW\tSHORT\tLONG\tNEEDS\tSHOWS\tRESULT")
	for _, r := range rows() {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n",
			r.name, r.size(r.short), r.size(r.long), strings.Join(r.needs, " "), r.shows, standing(r))
	}
	_ = table.Flush() // to the terminal
}

func (r row) size(n int) string {
	if n == 0 {
		return "all " + r.unit
	}
	return grouped(int64(n)) + " " + r.unit
}

func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// children are what the program does as a process of its own, beside a trial.
func children() map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) int{
		childCrowd: crowdChild, childScript: scriptChild, childRecover: recoverChild, childInspect: inspectChild,
	}
}
