// Command bench measures the real program, as a process of its own, beside what the same disk can do at best, in turns, and
// prints a table in Markdown. docs/performance.md says what the rows mean.
//
//	go run ./bench [-quick] [-dir DIR] [-program FILE] [upload|memory|pages|all ...]
//
// Exit codes: 0 ok, 1 failure or a limit missed, 2 usage.
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
	"syscall"
	"time"

	"labshelf/e2e"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// plan is how much is done.
type plan struct {
	rounds    int           // of everything that is compared, in turn
	load      time.Duration // that uploads go on in one round
	body      int64         // bytes of the large upload
	few, many int           // resources in the two repositories that pages are read from; hundreds
	pages     int           // how often each page is read in one round
}

func full() plan {
	return plan{rounds: 3, load: 3 * time.Second, body: 2 << 30, few: 1000, many: 100_000, pages: 300}
}

// quick is enough to see that everything works; its figures mean nothing.
func quick() plan {
	return plan{rounds: 1, load: 200 * time.Millisecond, body: 128 << 20, few: 200, many: 1000, pages: 20}
}

// bench is one run.
type bench struct {
	plan
	program  string    // labshelf
	version  string    // what it says of itself
	folder   string    // on the disk that is measured; emptied by the caller
	progress io.Writer // for people
}

// measurement makes some rows of the table.
type measurement struct {
	name string
	run  func(*bench, context.Context) ([]row, error)
}

func measurements() []measurement {
	return []measurement{{"upload", (*bench).upload}, {"memory", (*bench).memory}, {"pages", (*bench).readPages}}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	small := flags.Bool("quick", false, "only see that everything works: small sizes, one round, no limits")
	dir := flags.String("dir", "", "`DIR` on the disk to measure (default: the system's for temporary files)")
	program := flags.String("program", "", "`FILE` of the labshelf to measure (default: built from this tree)")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	chosen, err := choose(flags.Args())
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "bench:", err)
		return 2
	}
	b := &bench{plan: full(), program: *program, progress: stderr}
	if *small {
		b.plan = quick()
	}
	rows, err := b.all(ctx, *dir, chosen)
	if err == nil {
		_, err = fmt.Fprintf(stdout, "%s, %d CPUs, %s, rounds: %d.\n\n%s",
			b.version, runtime.NumCPU(), time.Now().Format(time.DateOnly), b.rounds, table(rows))
	}
	if err == nil && !*small && slices.ContainsFunc(rows, row.missed) {
		err = errors.New("a limit was missed")
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

// choose returns the measurements with these names, in their own order.
func choose(names []string) (chosen []measurement, err error) {
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

// all takes the measurements, in a new folder below dir, which is removed. It builds the program if none is given.
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
		more, err := m.run(b, ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.progress, format+"\n", args...)
}
