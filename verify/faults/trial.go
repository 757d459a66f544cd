// Package faults injects faults into the real program, its disk and its clock, and checks the
// result. Each row of the table in docs/reference/fault-tests.md is a test. That document explains
// the rows, and contains the results of their long runs.
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
	size    int    // number of units; 0: all
	long    bool
	only    int // the only unit to run, or -1 for all
	seed    uint64
	dir     string // for files of the row
	program string // labshelf, after it is built
	log     func(format string, args ...any)
	done    int // completed units
	figures []figure
}

// figure is a result of a row.
type figure struct {
	name     string
	value    float64
	greatest bool // a maximum, otherwise a sum
}

// units yields the numbers of the units to run: the size of the row, or all units if it has no
// size.
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

// more reports whether the row has run fewer units than its size.
func (t *trial) more(ctx context.Context) bool { return t.done < t.size && ctx.Err() == nil }

// workers is the number of units that run in parallel if they are independent. It exceeds the
// number of processors, because a unit mostly waits for FUSE calls and for pauses of the program.
const workers = 8

// together runs the units in parallel. The first error stops it.
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

// random returns a random source for one unit, which depends only on the seed and the unit.
func (t *trial) random(unit int) *rand.Rand { return rand.New(rand.NewPCG(t.seed, uint64(unit))) }

// add adds to a figure. If n is 0, it only creates the figure.
func (t *trial) add(name string, n int64) { t.figure(name, false).value += float64(n) }

// most stores the maximum of a figure.
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

// line returns the results as one line.
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

// grouped formats a number with commas.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// build compiles labshelf once. With an overlay in GOFLAGS, the result is a mutant.
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
		return errors.New("requires Linux")
	case need == "root" && os.Geteuid() != 0:
		return errors.New("requires root")
	case devices[need] != "":
		device, err := os.OpenFile(devices[need], os.O_RDWR, 0)
		if err != nil {
			return fmt.Errorf("requires %s: %w", devices[need], err)
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

// since returns the time since begun, rounded for a table.
func since(begun time.Time) time.Duration { return time.Since(begun).Round(time.Second) }
