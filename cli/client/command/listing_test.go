package command

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"labshelf/cli/exit"
	"labshelf/cli/process"
)

func TestInstantOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"":                          {},
		"2026-11-01":                time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local),
		"2026-11-01 18:30":          time.Date(2026, 11, 1, 18, 30, 0, 0, time.Local),
		"2026-11-01T18:30:05":       time.Date(2026, 11, 1, 18, 30, 5, 0, time.Local),
		"2026-11-01T18:30:05.250Z":  time.Date(2026, 11, 1, 18, 30, 5, 250e6, time.UTC),
		"2026-11-01T18:30:05+02:00": time.Date(2026, 11, 1, 16, 30, 5, 0, time.UTC),
		"2026-11-01 18:30:05+02:00": time.Date(2026, 11, 1, 16, 30, 5, 0, time.UTC),
		"2026-11-01 18:30:05.250Z":  time.Date(2026, 11, 1, 18, 30, 5, 250e6, time.UTC),
		"2026-11-01 18:30:05.250":   time.Date(2026, 11, 1, 18, 30, 5, 250e6, time.Local),
		"2026-11-01T18:30Z":         time.Date(2026, 11, 1, 18, 30, 0, 0, time.UTC),
		"2026-11-01 18:30-01:00":    time.Date(2026, 11, 1, 19, 30, 0, 0, time.UTC),
	} {
		if got, err := InstantOf("since", text); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "2026", "2026-13-01", "18:30", " ", "2026-11-01 ", "2026-11-01  18:30", "2026-11-01 18"} {
		if _, err := InstantOf("since", text); !errors.Is(err, exit.ErrUsage) || !strings.Contains(err.Error(), "--since") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// numbers yields 0 to n-1, and then last if it is not nil. It counts the yielded numbers.
func numbers(n int, last error, taken *int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			*taken++
			if !yield(i, nil) {
				return
			}
		}
		if last != nil {
			yield(0, last)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	columns := []Column[int]{
		{"ID", InLong, func(n int) string { return fmt.Sprint("id", n) }},
		{"N", 0, func(n int) string { return strings.Repeat("\t", max(0, 3-n)) + fmt.Sprint(n) }}, // widest values first
		{"STATE", InState | InLong, func(int) string { return "active" }},
		{"END", 0, func(int) string { return "." }},
	}
	broken := errors.New("it broke")
	for name, test := range map[string]struct {
		records   int
		last, err error
		view      View
		lines     int // lines of output
		head      string
		taken     int // number of records that were read
	}{
		"none":               {0, nil, nil, View{None: "nothing"}, 0, "", 0},
		"some":               {3, nil, nil, View{None: "nothing"}, 4, "N     END", 3},
		"long":               {3, nil, nil, View{Also: InLong}, 4, "ID   N     END", 3},
		"both":               {3, nil, nil, View{Also: InLong | InState}, 4, "ID   N     STATE   END", 3},
		"limited":            {9, nil, nil, View{limit: 2}, 3, "N     END", 2},
		"in chunks":          {2*tableChunk + 5, nil, nil, View{}, 2*tableChunk + 6, "N     END", 2*tableChunk + 5},
		"broken":             {tableChunk + 5, broken, broken, View{}, tableChunk + 1, "N     END", tableChunk + 5},
		"JSON":               {3, nil, nil, View{JSON: true, None: "nothing", Also: InLong}, 3, "0", 3},
		"JSON, limit":        {3, nil, nil, View{JSON: true, limit: 1}, 1, "0", 1},
		"JSON without items": {0, nil, nil, View{JSON: true, None: "nothing"}, 0, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, problems strings.Builder
			taken := 0
			err := Show(Process{Process: process.Process{Out: &out, Err: &problems}}, numbers(test.records, test.last, &taken), columns, test.view)
			lines := strings.SplitAfter(out.String(), "\n")
			if !errors.Is(err, test.err) || len(lines)-1 != test.lines || taken != test.taken {
				t.Fatalf("error %v, %d lines of %d records", err, len(lines)-1, taken)
			}
			if got := strings.TrimSuffix(lines[0], "\n"); got != test.head {
				t.Errorf("head %q, want %q", got, test.head)
			}
			if wanted := test.records == 0 && !test.view.JSON; (problems.String() == test.view.None+"\n") != wanted {
				t.Errorf("stderr has %q", &problems)
			}
			for i, line := range lines[:len(lines)-1] {
				if at := uniseg.StringWidth(lines[0]) - len("END"); !test.view.JSON && i > 0 && !strings.HasSuffix(line[at:], ".\n") {
					t.Fatalf("line %d is not aligned: %q", i, line)
				}
			}
		})
	}
}
