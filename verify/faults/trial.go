// Package faults injects faults into the real program, its disk and its clock, and checks what is
// left. Each row of the table in docs/reference/fault-tests.md is a test; that document says what
// the rows mean, and holds the results of their long runs.
//
//	go -C verify test ./faults                                        # each row in a few seconds
//	go -C verify test ./faults -size=short                            # as .ci/run does
//	go -C verify test ./faults -size=long -timeout=0 -run=Kill -write # before a release
package faults

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"labshelf/verify/e2e"
)

// trial is one run of a row.
type trial struct {
	name    string
	unit    string // unit of its size, in the plural
	size    int    // units; 0: all there are
	long    bool
	only    int // the one unit that is to be tried, or -1 for all
	seed    uint64
	dir     string // for whatever the row needs on the disk
	program string // labshelf, once it is built
	log     func(format string, args ...any)
	done    int // units
	figures []figure
}

// figure is one result of a row.
type figure struct {
	name     string
	value    float64
	greatest bool // else a sum
}

// units yields the numbers of the units that are to be tried: as many as the size of the row says,
// or all where it has none.
func (t *trial) units(ctx context.Context, total int) iter.Seq[int] {
	if t.size > 0 {
		total = t.size
	}
	return func(yield func(int) bool) {
		for i := 0; i < total && ctx.Err() == nil; i++ {
			if t.only >= 0 && i != t.only {
				continue
			}
			if !yield(i) {
				return
			}
			t.done++
		}
	}
}

// more tells whether the row has tried less than its size.
func (t *trial) more(ctx context.Context) bool { return t.done < t.size && ctx.Err() == nil }

// workers is how many units are tried at once where they do not disturb each other: more than there
// are processors, since a unit mostly waits, for calls through FUSE and for the pauses of the
// program.
const workers = 8

// together tries the units at once. The first error ends it.
func (t *trial) together(ctx context.Context, total int, try func(unit int) error) error {
	group, sound := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for unit := range t.units(sound, total) {
		group.Go(func() error {
			if err := try(unit); err != nil {
				return fmt.Errorf("unit %d: %w", unit, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// random returns a source for one unit: the same for the same seed, whatever came before.
func (t *trial) random(unit int) *rand.Rand { return rand.New(rand.NewPCG(t.seed, uint64(unit))) }

// add counts; with n = 0 it only makes the figure appear.
func (t *trial) add(name string, n int64) { t.figure(name, false).value += float64(n) }

// most keeps the greatest value.
func (t *trial) most(name string, v float64) {
	f := t.figure(name, true)
	f.value = max(f.value, v)
}

func (t *trial) figure(name string, greatest bool) *figure {
	for i := range t.figures {
		if t.figures[i].name == name {
			return &t.figures[i]
		}
	}
	t.figures = append(t.figures, figure{name: name, greatest: greatest})
	return &t.figures[len(t.figures)-1]
}

// line is what came out, in one line.
func (t *trial) line() string {
	parts := []string{grouped(int64(t.done)) + " " + t.unit}
	for _, f := range t.figures {
		if f.greatest {
			parts = append(parts, fmt.Sprintf("%s at most %s", f.name, strconv.FormatFloat(f.value, 'f', 2, 64)))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %s", grouped(int64(f.value)), f.name))
	}
	return strings.Join(parts, ", ")
}

// grouped writes a number with commas.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// build compiles labshelf once. With an overlay in GOFLAGS that is a mutant.
func (t *trial) build(ctx context.Context) (string, error) {
	if t.program != "" {
		return t.program, nil
	}
	path, err := e2e.Build(ctx, t.dir)
	t.program = path
	return path, err
}

// missing returns why a row with these needs cannot run here, or nil.
func missing(needs []string) error {
	for _, need := range needs {
		switch need {
		case "linux", "root", "loop", "fuse":
			if err := lacking(need); err != nil {
				return err
			}
		default:
			if _, err := exec.LookPath(need); err != nil {
				return fmt.Errorf("not installed: %s", need)
			}
		}
	}
	return nil
}

func lacking(need string) error {
	devices := map[string]string{"loop": "/dev/loop-control", "fuse": "/dev/fuse"}
	switch {
	case runtime.GOOS != "linux":
		return errors.New("it needs Linux")
	case need == "root" && os.Geteuid() != 0:
		return errors.New("it needs root")
	case devices[need] != "":
		device, err := os.OpenFile(devices[need], os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("it needs %s: %w", devices[need], err)
		}
		return device.Close()
	}
	return nil
}

// inMemory returns a folder in memory, for data that pass through passfs anyway, or "" if the
// system has no such folder.
func inMemory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

// since is the time from a moment, for a table.
func since(begun time.Time) time.Duration { return time.Since(begun).Round(time.Second) }
