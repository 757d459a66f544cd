package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// tiny runs a row in a size of a few seconds at most, smaller still under -short. Where it cannot run it is skipped, but not in CI.
func tiny(t *testing.T, name string, size int) {
	t.Helper()
	chosen, err := choose([]string{name}, true)
	if err != nil {
		t.Fatal(err)
	}
	r := chosen[0]
	if err := missing(r.needs); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	r.short = size
	if testing.Short() {
		r.short = max(1, size/4)
	}
	scratch := t.TempDir()
	if slices.Contains(r.needs, "fuse") {
		if scratch, err = os.MkdirTemp(inMemory(), "labshelf-faults-test-"); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(scratch) }() // memory that nobody needs
	}
	var out strings.Builder
	if err := runRow(t.Context(), options{short: true, seed: 1, scratch: scratch}, r, &out); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	t.Log(out.String())
}

func TestKill(t *testing.T) {
	t.Parallel()
	tiny(t, "kill", 3)
}

// TestPowerCut goes on for longer when it has a fault to find.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	cuts := 4
	if tags() != "" {
		cuts = 60
	}
	tiny(t, "power", cuts)
}

func TestHarvest(t *testing.T) {
	t.Parallel()
	tiny(t, "harvest", 300)
}

func TestFlips(t *testing.T) {
	t.Parallel()
	tiny(t, "flips", 8)
}

func TestClock(t *testing.T) {
	t.Parallel()
	tiny(t, "clock", 0)
}

func TestSlow(t *testing.T) {
	t.Parallel()
	tiny(t, "slow", 100)
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args         []string
		code         int
		stdout, said string
	}{
		{nil, 0, "kill", ""},
		{[]string{"nothing"}, 2, "", `no row "nothing": there are all, kill`},
		{[]string{"-fast"}, 2, "", "-short"},
		{[]string{"-short", "-write", "kill"}, 2, "", "only long rows"},
	} {
		t.Run(fmt.Sprint(c.args), func(t *testing.T) {
			t.Parallel()
			var stdout, stderr strings.Builder
			if code := run(t.Context(), c.args, &stdout, &stderr); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.said) {
				t.Errorf("want %q and %q, printed:\n%s\n%s", c.stdout, c.said, &stdout, &stderr)
			}
		})
	}
}

// TestUnits sees which units a row is given: all, each seventh, and after a break those that are left.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tr   trial
		want string
	}{
		{"by size", trial{size: 3}, "[0 1 2]"},
		{"all", trial{}, "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16]"},
		{"each seventh", trial{brief: true, offset: 2}, "[2 9 16]"},
		{"after a break", trial{size: 5, tally: tally{Done: 3}}, "[3 4]"},
		{"each seventh after a break", trial{brief: true, offset: 2, tally: tally{Done: 1}}, "[9 16]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.tr.deadline = time.Now().Add(time.Hour)
			var got []int
			for i := range c.tr.units(t.Context(), 17) {
				got = append(got, i)
			}
			if fmt.Sprint(got) != c.want || c.tr.unfinished {
				t.Errorf("got %v, want %s, unfinished %t", got, c.want, c.tr.unfinished)
			}
		})
	}
}

// TestTogether interrupts units that are done side by side: what follows the first that has not ended is done again.
func TestTogether(t *testing.T) {
	t.Parallel()
	const total = 5 * hands
	ctx, interrupt := context.WithCancel(t.Context())
	var did [total]atomic.Int32
	tr := trial{size: total, deadline: time.Now().Add(time.Hour)}
	const slow = hands + 3
	err := tr.together(ctx, total, func(unit int) error {
		switch unit {
		case slow:
			<-ctx.Done()
			return ctx.Err()
		case slow + 2:
			interrupt()
		}
		did[unit].Add(1)
		return nil
	})
	if !errors.Is(err, context.Canceled) || tr.Done != slow {
		t.Fatalf("%d units are done, %v; want %d", tr.Done, err, slow)
	}
	tr.unfinished = false
	err = tr.together(t.Context(), total, func(unit int) error { did[unit].Add(1); return nil })
	if err != nil || tr.Done != total {
		t.Errorf("%d units are done, %v; want %d", tr.Done, err, total)
	}
	for unit := range did {
		if n := did[unit].Load(); n == 0 || n > 1 && unit < slow {
			t.Errorf("unit %d was done %d times", unit, n)
		}
	}
}

// TestCode sees that each package of the executable, and of the script, is among the code of the rows that test it.
func TestCode(t *testing.T) {
	t.Parallel()
	for path, code := range map[string][]string{"labshelf": program(), "labshelf/verify/faults/script": stores()} {
		out, err := exec.Command("go", "list", "-deps", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(string(out)) {
			folder, ours := strings.CutPrefix(name, "labshelf/")
			top, _, _ := strings.Cut(folder, "/")
			among := func(path string) bool { return path == top || strings.HasPrefix(path, top+"/") }
			if ours && top != "verify" && !slices.ContainsFunc(slices.Concat(code, beside()), among) {
				t.Errorf("%s is not among the code of the rows that test %s", name, path)
			}
		}
	}
}

// TestResume ends a long row in its middle; the second call does the rest, and a third begins again.
func TestResume(t *testing.T) {
	t.Parallel()
	var did []int
	r := row{name: "count", unit: "numbers", long: 4, run: func(ctx context.Context, t *trial) error {
		for i := range t.units(ctx, t.size) {
			did = append(did, i)
			t.add("counted", 1)
			t.most("greatest", float64(i))
			if len(did) == 2 {
				t.deadline = time.Now()
			}
		}
		return nil
	}}
	o := options{seed: 7, offset: -1, state: t.TempDir(), scratch: t.TempDir(), limit: time.Hour}
	for _, c := range []struct {
		want error
		did  string
		line string
	}{
		{errUnfinished, "[0 1]", "2 of 4 numbers"},
		{nil, "[0 1 2 3]", "4 numbers, 4 counted, greatest at most 3.00"},
		{nil, "[0 1 2 3 0 1 2 3]", "4 numbers, 4 counted"},
	} {
		var out strings.Builder
		err := runRow(t.Context(), o, r, &out)
		if !errors.Is(err, c.want) || fmt.Sprint(did) != c.did || !strings.Contains(fmt.Sprint(&out, err), c.line) {
			t.Errorf("did %v, %v, printed\n%s\nwant %s, %v, %s", did, err, &out, c.did, c.want, c.line)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	text := "a\n" + beginMark + "\n| row |\n|---|\n" + endMark + "\nb\n"
	for _, line := range []string{"| unknown | 1 |", "| kill | 1 |", "| kill | 2 |"} {
		var err error
		if text, err = withLine(text, nameIn(line), line); err != nil {
			t.Fatal(err)
		}
	}
	want := "a\n" + beginMark + "\n| row |\n|---|\n| unknown | 1 |\n| kill | 2 |\n" + endMark + "\nb\n"
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if _, err := withLine("no marks", "kill", "| kill |"); err == nil {
		t.Error("a document without a place for results was taken")
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

// TestWithin: what lacks something is told from what says something else.
func TestWithin(t *testing.T) {
	t.Parallel()
	const was = `{"files": 3, "days": [{"day": "a", "files": 1}, {"day": "b", "files": 2}]}`
	for now, want := range map[string]bool{
		was: true,
		`{"files": 1, "days": [{"day": "b", "files": 0}]}`: true,
		`{"files": 4, "days": []}`:                         false,
		`{"files": 3, "days": [{"day": "c", "files": 0}]}`: false,
		`{"files": 3, "days": [{"day": "a", "files": 2}]}`: false,
		`{"files": 3, "days": [], "more": 1}`:              false,
		`{"files": "3", "days": []}`:                       false,
	} {
		var one, other any
		if err := errors.Join(json.Unmarshal([]byte(now), &one), json.Unmarshal([]byte(was), &other)); err != nil {
			t.Fatal(err)
		}
		if got := within(one, other); got != want {
			t.Errorf("%s is within %s: %t, want %t", now, was, got, want)
		}
	}
}
