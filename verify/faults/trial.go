package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/verify/e2e"
)

// every is which points a short row takes of those that the long one goes through: each seventh.
const every = 7

// errUnfinished says that a long row is to be called again.
var errUnfinished = errors.New("not finished")

// trial is one call of a row.
type trial struct {
	row
	size       int // units of the row; 0: all there are
	brief      bool
	offset     int
	out        io.Writer
	dir        string // for whatever the row needs on the disk; gone afterwards, unless the row failed
	program    string // labshelf, once it is built
	deadline   time.Time
	state      string // file that keeps the tally; "" keeps nothing
	unfinished bool
	since      time.Time // up to which Seconds counts
	tally
}

// tally is how far a row has come. It is kept between the calls of a long row.
type tally struct {
	Code    string // see codeID
	Seed    uint64
	Size    int
	Done    int // units
	Seconds float64
	Figures []figure
}

// figure is one result of a row.
type figure struct {
	Name     string
	Value    float64
	Greatest bool // else a sum
}

// runRow runs one row, or goes on with it, and prints what came out.
func runRow(ctx context.Context, o options, r row, out io.Writer) (err error) {
	if err := missing(r.needs); err != nil {
		if os.Getenv("CI") == "true" {
			return err
		}
		_, err := fmt.Fprintf(out, "%s: skipped: %v\n", r.name, err)
		return err
	}
	t, err := begin(o, r, out)
	if err != nil {
		return err
	}
	t.say("%s: %s, seed %d, offset %d, from %d", r.name, r.size(t.size), t.Seed, t.offset, t.Done)
	if err = r.run(ctx, t); err == nil {
		err = t.save()
	}
	if ctx.Err() != nil {
		// What was under way does not count. It may have failed for being interrupted.
		err, t.unfinished = nil, true
	}
	if err != nil {
		return fmt.Errorf("unit %d, seed %d, offset %d: %w; what it left is in %s", t.Done, t.Seed, t.offset, err, t.dir)
	}
	if err := os.RemoveAll(t.dir); err != nil {
		return err
	}
	if t.unfinished {
		return fmt.Errorf("%w: %d of %s; the same command goes on", errUnfinished, t.Done, r.size(t.size))
	}
	t.say("%s: %s (%s)", r.name, t.line(), time.Duration(t.Seconds*float64(time.Second)).Round(100*time.Millisecond))
	if o.write {
		err = t.writeResult()
	}
	if err == nil && t.state != "" {
		err = os.Remove(t.state)
	}
	return err
}

// begin sets up a trial: a new one, or one that was not finished, if the code is still the same.
func begin(o options, r row, out io.Writer) (t *trial, err error) {
	t = &trial{row: r, size: r.short, brief: o.short, out: out, deadline: time.Now().Add(time.Hour), since: time.Now()}
	t.tally = tally{Seed: o.seed}
	if !o.short {
		t.size, t.deadline = r.long, time.Now().Add(o.limit)
		if err := t.resume(o); err != nil {
			return nil, err
		}
	}
	if t.offset = o.offset; t.offset < 0 {
		t.offset = int(t.Seed % every)
	}
	if !o.short {
		t.offset = 0
	}
	scratch := o.scratch
	if scratch == "" && slices.Contains(r.needs, "fuse") {
		scratch = inMemory()
	}
	t.dir, err = os.MkdirTemp(scratch, "labshelf-faults-"+r.name+"-")
	return t, err
}

// inMemory returns a folder that is no disk, for what passes through a file system of our own anyway; "" where there is none.
func inMemory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err == nil && info.IsDir() {
		return shm
	}
	return ""
}

// resume takes up the state of a long row.
func (t *trial) resume(o options) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	code, err := codeID(root, o.write)
	if err != nil {
		return err
	}
	t.Code, t.Size = code, t.size
	folder := o.state
	if folder == "" {
		folder = filepath.Join(root, "verify", "faults", "state")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	t.state = filepath.Join(folder, t.name+".json")
	text, err := os.ReadFile(t.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var kept tally
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("%s: %w", t.state, err)
	}
	if kept.Code != t.Code || kept.Size != t.Size {
		t.say("%s: begins again: %d units were done on %s, this is %s", t.name, kept.Done, kept.Code, t.Code)
		return nil
	}
	t.tally = kept
	return nil
}

// save keeps the tally, and the time that it took.
func (t *trial) save() error {
	t.Seconds += time.Since(t.since).Seconds()
	t.since = time.Now()
	if t.state == "" {
		return nil
	}
	text, err := json.MarshalIndent(t.tally, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(t.state+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(t.state+".new", t.state)
}

// units yields the numbers of the units that are still to be done, and keeps how far it has come. total is how many there are
// where the row's size says all; of these a short row gets every seventh. It ends early when the time is over.
func (t *trial) units(ctx context.Context, total int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range t.left(ctx, total) {
			if !yield(i) {
				return
			}
			t.advance(1)
		}
	}
}

// left is units without keeping how far it has come.
func (t *trial) left(ctx context.Context, total int) iter.Seq[int] {
	step, first := 1, 0
	if t.size > 0 {
		total = t.size
	} else if t.brief {
		step, first = every, t.offset
	}
	from := first + t.Done*step
	return func(yield func(int) bool) {
		for i := from; i < total && t.more(ctx, t.Done+1) && yield(i); i += step {
		}
	}
}

// more tells whether a row goes on that has done less than total units. It does not when the time is over.
func (t *trial) more(ctx context.Context, total int) bool {
	if t.Done < total && (ctx.Err() != nil || time.Now().After(t.deadline)) {
		t.unfinished = true
	}
	return t.Done < total && !t.unfinished
}

// advance notes that units are done.
func (t *trial) advance(units int) {
	t.Done += units
	if err := t.save(); err != nil {
		t.say("%s: how far it has come cannot be kept: %v", t.name, err)
	}
}

// random returns a source for one unit: the same for the same seed, whatever came before.
func (t *trial) random(unit int) *rand.Rand { return rand.New(rand.NewPCG(t.Seed, uint64(unit))) }

// add counts; with n = 0 it only makes the figure appear.
func (t *trial) add(name string, n int64) { t.figure(name, false).Value += float64(n) }

// most keeps the greatest value.
func (t *trial) most(name string, v float64) {
	f := t.figure(name, true)
	f.Value = max(f.Value, v)
}

func (t *trial) figure(name string, greatest bool) *figure {
	for i := range t.Figures {
		if t.Figures[i].Name == name {
			return &t.Figures[i]
		}
	}
	t.Figures = append(t.Figures, figure{Name: name, Greatest: greatest})
	return &t.Figures[len(t.Figures)-1]
}

// line is what came out, in one line.
func (t *trial) line() string {
	parts := []string{grouped(int64(t.Done)) + " " + t.unit}
	for _, f := range t.Figures {
		if f.Greatest {
			parts = append(parts, fmt.Sprintf("%s at most %s", f.Name, strconv.FormatFloat(f.Value, 'f', 2, 64)))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %s", grouped(int64(f.Value)), f.Name))
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

func (t *trial) say(format string, args ...any) { _, _ = fmt.Fprintf(t.out, format+"\n", args...) }

// build compiles labshelf, with the same tags as this program: what is built as a mutant tests the mutant.
func (t *trial) build(ctx context.Context) (string, error) {
	if t.program != "" {
		return t.program, nil
	}
	path, err := e2e.Build(ctx, t.dir, "-tags="+tags())
	t.program = path
	return path, err
}

// tags are those that this program was built with.
func tags() string {
	info, _ := debug.ReadBuildInfo()
	for i := 0; info != nil && i < len(info.Settings); i++ {
		if info.Settings[i].Key == "-tags" {
			return info.Settings[i].Value
		}
	}
	return ""
}

// missing returns why a row cannot run here, or nil.
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
