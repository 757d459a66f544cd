// Package report writes the outcome of each file of a command, and the totals.
package report

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"labshelf/blobs"
	"labshelf/cli/client/filenames"
	"labshelf/cli/display"
	"labshelf/cli/meter"
)

// Outcome is the result for a file; its value is used in JSON.
type Outcome string

// The outcomes.
const (
	Sent     Outcome = "sent"     // a new resource
	Replaced Outcome = "replaced" // the new file of an existing resource
	Present  Outcome = "there"    // not sent: the resource with that name has the same bytes
	Skipped  Outcome = "skipped"  // not a regular file
	Failed   Outcome = "failed"
)

// Result is the outcome of one file.
type Result struct {
	Path, Name string // local path as displayed; name of the resource
	Outcome    Outcome
	ID         string       // of the resource, or ""
	Bytes      int64        // of the resource
	Digest     blobs.Digest // of the resource
	Why        error        // nil unless the file was skipped or failed
}

// tally counts files and bytes with one outcome.
type tally struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// Wording has the words for the outcomes, in the order of the report.
type Wording []struct {
	Outcome Outcome
	Words   string
	Bytes   bool // the totals include bytes
}

// Report writes outcomes as they occur, and the totals at the end. It is safe for concurrent use.
type Report struct {
	Output
	meter   *meter.Meter
	wording Wording
	Only    string // text for a single file instead of a count, or ""
	none    string // text if there are no files
	Dry     bool   // nothing was changed, only planned

	mu          sync.Mutex
	Counts      map[Outcome]tally
	others      map[int]int // skipped entries, by index in otherKinds
	outputError error       // of the first write that failed

	Renamed int // files whose name differs from the name of their resource
}

// line is the JSON of a result.
type line struct {
	File    string  `json:"file"`
	Name    string  `json:"name,omitempty"`
	Outcome Outcome `json:"outcome"`
	ID      string  `json:"id,omitempty"`
	Bytes   *int64  `json:"bytes,omitempty"`
	SHA256  string  `json:"sha256,omitempty"`
	Why     string  `json:"why,omitempty"`
	Kind    string  `json:"kind,omitempty"` // of an entry that is not a regular file
	DryRun  bool    `json:"dryRun,omitempty"`
}

// Tell counts a result. It writes the result if the file failed or was skipped, or in a dry run or
// with JSON output.
func (r *Report) Tell(one Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(one.Outcome, 1, one.Bytes)
	var other NotAFile
	isOther := errors.As(one.Why, &other)
	if isOther {
		r.countOther(kindIndex(fs.FileMode(other)))
	}
	if one.Why != nil {
		r.meter.Say(fmt.Sprintf("%s: %s", display.Printable(one.Path), display.Printable(one.Why.Error())))
	}
	switch {
	case r.JSON:
		l := line{File: one.Path, Name: one.Name, Outcome: one.Outcome, ID: one.ID, DryRun: r.Dry}
		if one.Why != nil {
			l.Why = one.Why.Error()
			if isOther {
				l.Kind = otherKinds[kindIndex(fs.FileMode(other))].word
			}
		} else {
			l.Bytes = &one.Bytes
		}
		if one.Digest != (blobs.Digest{}) {
			l.SHA256 = one.Digest.String()
		}
		r.write(func() error { return display.WriteJSON(r.Out, l) })
	case r.Dry && (one.Outcome == Sent || one.Outcome == Replaced):
		verb := map[Outcome]string{Sent: "send", Replaced: "replace"}[one.Outcome]
		r.write(func() error {
			_, err := fmt.Fprintf(r.Out, "%-7s  %s\n", verb, display.Printable(one.Name))
			return err
		})
	}
}

// Replace counts a result instead of an earlier one with the outcome was, and writes it.
func (r *Report) Replace(one Result, was Outcome) {
	r.mu.Lock()
	r.count(was, -1, -one.Bytes)
	r.mu.Unlock()
	r.Tell(one)
}

func (r *Report) countOther(kind int) {
	if r.others == nil {
		r.others = map[int]int{}
	}
	r.others[kind]++
}

// otherCounts returns the numbers of skipped entries for display: 2 symbolic links, 1 pipe.
func (r *Report) otherCounts() string {
	var counts []string
	for i, k := range otherKinds {
		switch n := r.others[i]; n {
		case 0:
		case 1:
			counts = append(counts, "1 "+k.one)
		default:
			counts = append(counts, strconv.Itoa(n)+" "+k.several)
		}
	}
	return strings.Join(counts, ", ")
}

func (r *Report) count(o Outcome, files int, bytes int64) {
	count := r.Counts[o]
	r.Counts[o] = tally{count.Files + files, count.Bytes + bytes}
}

// write writes to the output. End returns the first error: a closed output does not stop the work.
func (r *Report) write(line func() error) {
	r.meter.WithoutBar(func() {
		if err := line(); err != nil && r.outputError == nil {
			r.outputError = err
		}
	})
}

// Done counts the files that are in the set.
func (r *Report) Done() int {
	return r.Counts[Sent].Files + r.Counts[Replaced].Files + r.Counts[Present].Files
}

// End writes the totals. left is the number of files that were not tried.
func (r *Report) End(left int) error {
	r.meter.Close()
	if r.JSON {
		sums := map[string]any{"left": left}
		if r.Dry {
			sums["dryRun"] = true
		}
		if r.Renamed > 0 {
			sums["renamed"] = r.Renamed
		}
		for _, w := range r.wording {
			sums[string(w.Outcome)] = r.Counts[w.Outcome]
		}
		r.write(func() error { return display.WriteJSON(r.Out, map[string]any{"end": sums}) })
		return r.outputError
	}
	t := display.Table{}
	for _, w := range r.wording {
		count := r.Counts[w.Outcome]
		what := display.Files(count.Files)
		if r.Only != "" {
			what = r.Only
		}
		switch {
		case count.Files == 0:
		case w.Outcome == Skipped:
			t.Add(w.Words, r.otherCounts())
		case w.Bytes:
			t.Add(w.Words, what+", "+display.Bytes(count.Bytes))
		default:
			t.Add(w.Words, what)
		}
	}
	if r.Renamed > 0 {
		t.Add("renamed", fmt.Sprintf("%s; %s has the names that put uses", display.Files(r.Renamed), filenames.Name))
	}
	if left > 0 {
		t.Add("not tried", display.Files(left))
	}
	if len(t.Rows) == 0 {
		t.Add(r.none)
	}
	r.write(func() error { return t.Write(r.Out, display.Unlimited) })
	return r.outputError
}
