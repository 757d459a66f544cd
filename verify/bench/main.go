// Command bench measures the real program in its own process, alternating with the best that the
// same disk can do. It prints a table in Markdown. docs/explanation/performance.md explains the
// rows.
//
//	go -C verify run ./bench [-quick] [-dir DIR] [-program FILE] [PART ...]
//	go -C verify run ./bench fill [-resources N] [-sets N] [-dataspaces N] [-bodies N] DATA
//	go -C verify run ./bench [-quick] [-program FILE] scale SMALL DATA ...
//	go -C verify run ./bench [-quick|-brief] [-dir DIR] [-program FILE] versus OTHER
//
// A PART is uploads, replacements, large, downloads, listings, startup, delete, put, drive,
// harvest, search, peers, cluster or all. The second form creates a large repository. The third
// form measures such repositories, and compares each with the small one; the uploads of the
// measurement stay in them. The fourth form compares uploads, downloads and starts with another
// labshelf, such as one built from an earlier commit.
//
// Exit codes: 0 ok, 1 failure or a target missed, 2 usage.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"labshelf/verify/e2e"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// plan contains the sizes of a run.
type plan struct {
	rounds      int           // of each comparison
	moreRounds  int           // of comparisons whose results vary most
	load        time.Duration // duration of a load in one round
	body        int64         // bytes of the large file: a multiple of blockSize
	fetches     int           // downloads of the large file in one round
	files       int           // small files for downloads
	many        int           // resources in the repositories for listings: a multiple of 100
	clusterMany int           // like many, for the cluster and its embedded repository
	pages       int           // reads of each page in one round: a multiple of inARow
	starts      int           // starts of each program in one round
	idle        time.Duration // time after which a program is regarded as idle
	putFiles    int           // small files for put
	putBody     int64         // bytes of the large file for put: a multiple of blockSize
	copyFiles   int           // files of 8 MiB that are copied to the drive
	rest        bool          // wait until the disk is idle before measurements
	fetch       bool          // build a missing program to compare with
}

func full() plan {
	return plan{rounds: 3, moreRounds: 5, load: 3 * time.Second, body: 1 << 30, fetches: 3, files: 1000,
		many: 100_000, clusterMany: 1_000_000, pages: 500, starts: 20, idle: 3 * time.Second, putFiles: 10_000, putBody: 4 << 30, copyFiles: 64, rest: true, fetch: true}
}

// quick returns the plan for a functional check. Its results have no meaning.
func quick() plan {
	return plan{rounds: 1, moreRounds: 1, load: 100 * time.Millisecond, body: 32 << 20, fetches: 1, files: 100,
		many: 1000, clusterMany: 1000, pages: 4 * inARow, starts: 2, idle: 100 * time.Millisecond, putFiles: 40, putBody: 32 << 20, copyFiles: 4}
}

// brief returns the plan for a versus of half a minute. It shows operations that became slower by a
// tenth, and does not wait for an idle disk.
func brief() plan {
	return plan{rounds: 4, moreRounds: 1, load: 400 * time.Millisecond, files: 200, starts: 5}
}

// bench is one run.
type bench struct {
	plan
	program  string    // labshelf
	version  string    // as the program reports it
	folder   string    // on the disk that is measured; emptied by the caller
	progress io.Writer // messages for people
	numbers  atomic.Uint64
}

// number returns a new number at each call, so that all uploaded bodies differ.
func (b *bench) number() uint64 { return b.numbers.Add(1) }

// measurement creates some rows of the table.
type measurement struct {
	name string
	run  func(*bench, context.Context) ([]row, error)
}

func measurements() []measurement {
	return []measurement{
		{"uploads", (*bench).uploads}, {"replacements", (*bench).replacements}, {"large", (*bench).large}, {"downloads", (*bench).downloads},
		{"listings", (*bench).listings}, {"startup", (*bench).startup}, {"delete", (*bench).deletion},
		{"put", (*bench).put}, {"drive", (*bench).drive}, {"harvest", (*bench).harvest}, {"search", (*bench).search}, {"peers", (*bench).peers}, {"cluster", (*bench).cluster},
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	small := flags.Bool("quick", false, "only check that everything works: small sizes, one round, no targets")
	short := flags.Bool("brief", false, "with versus: run for half a minute, and list slower operations instead of failing")
	dir := flags.String("dir", "", "`DIR` on the disk to measure (default: the system's temporary directory)")
	program := flags.String("program", "", "`FILE` of the labshelf to measure (default: built from this tree)")
	if len(args) > 0 && args[0] == "fill" {
		return exitCode(generate(ctx, args[1:], stderr), stderr)
	}
	if err := flags.Parse(args); err != nil {
		return 2
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		return exitCode(usageError{err}, stderr)
	}
	b := &bench{plan: full(), program: *program, progress: stderr}
	if *small {
		b.plan = quick()
	}
	if *short {
		b.plan = brief()
	}
	rows, err := b.all(ctx, *dir, chosen)
	if err == nil {
		_, err = fmt.Fprintf(stdout, "%s, %d CPUs, %s, rounds: %d.\n\n%s",
			b.version, runtime.NumCPU(), time.Now().Format(time.DateOnly), b.rounds, table(rows))
	}
	if err == nil && *short {
		for _, r := range rows {
			if r.missed() {
				_, err = fmt.Fprintf(stdout, "SLOWER: %s\n", r.what)
			}
		}
		return exitCode(err, stderr)
	}
	if err == nil && !*small && slices.ContainsFunc(rows, row.missed) {
		err = errors.New("a target was missed")
	}
	return exitCode(err, stderr)
}

// usageError is an error in the command line.
type usageError struct{ error }

// exitCode prints an error, if there is one, and returns the exit code.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "bench:", err)
	if errors.As(err, &usageError{}) {
		return 2
	}
	return 1
}

// choose returns the measurements with these names, in the order of measurements.
func choose(names []string) (chosen []measurement, err error) {
	if len(names) > 0 && names[0] == "scale" {
		return scaleOf(names[1:])
	}
	if len(names) > 0 && names[0] == "versus" {
		return versusOf(names[1:])
	}
	all := len(names) == 0 || slices.Contains(names, "all")
	known := []string{"all"}
	for _, m := range measurements() {
		known = append(known, m.name)
		if all || slices.Contains(names, m.name) {
			chosen = append(chosen, m)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("no measurement %q: there are %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// all runs the measurements in a new folder below dir, and removes it. It builds the program if
// none is given.
func (b *bench) all(ctx context.Context, dir string, chosen []measurement) (rows []row, err error) {
	if b.folder, err = os.MkdirTemp(dir, "labshelf-bench-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.folder)) }()
	if b.program == "" {
		if b.program, err = e2e.Build(ctx, b.folder); err != nil {
			return nil, err
		}
	}
	version, err := exec.CommandContext(ctx, b.program, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("labshelf version: %w", err)
	}
	b.version = strings.TrimSpace(string(version))
	for _, m := range chosen {
		if err := b.atRest(ctx); err != nil {
			return nil, err
		}
		more, err := m.run(b, ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// closers holds cleanup functions in the order in which they were added.
type closers []func() error

func (c *closers) later(end func() error) { *c = append(*c, end) }

// close calls all functions, the last one first, and adds their errors to err.
func (c *closers) close(err *error) {
	for _, end := range slices.Backward(*c) {
		*err = errors.Join(*err, end())
	}
	*c = nil
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, format+"\n", args...)
}
