package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"labshelf/blobs"
)

// outcome is what became of a file, in the word of --json.
type outcome string

// The outcomes.
const (
	sent     outcome = "sent"     // a new resource
	replaced outcome = "replaced" // the file of a resource that had its name
	there    outcome = "there"    // nothing was sent: the name has these bytes already
	leftOut  outcome = "skipped"  // it is no file
	failed   outcome = "failed"
)

// result is what became of one file.
type result struct {
	local
	outcome outcome
	id      string       // of the resource, or ""
	bytes   int64        // of the resource
	digest  blobs.Digest // of the resource
	why     error        // nil unless it was left out or failed
}

// tally counts files and bytes with the same outcome.
type tally struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// wording is what a command calls its outcomes, in the order of its report.
type wording []struct {
	outcome outcome
	words   string
	length  bool // it tells the bytes, too
}

// report tells what became of each file, and how many had which outcome. It is safe for concurrent use.
type report struct {
	p       Process
	meter   *Meter
	asJSON  bool
	wording wording
	only    string // what to call the only file, where it has a name that nobody has given; or ""
	none    string // what to say where there is no file
	dry     bool   // nothing is done; it tells what would be

	mu     sync.Mutex
	counts map[outcome]tally
	others map[int]int // entries left out, by their place in otherKinds
	broken error       // of writing to standard output

	renamed int // files that have another name than their resource
}

// line is a result as --json has it.
type line struct {
	File    string  `json:"file"`
	Name    string  `json:"name,omitempty"`
	Outcome outcome `json:"outcome"`
	ID      string  `json:"id,omitempty"`
	Bytes   *int64  `json:"bytes,omitempty"`
	SHA256  string  `json:"sha256,omitempty"`
	Why     string  `json:"why,omitempty"`
	Kind    string  `json:"kind,omitempty"` // of an entry that is no file
	DryRun  bool    `json:"dryRun,omitempty"`
}

// tell takes a result, and tells it now where somebody waits for it: what failed or was left out, and each with --json or --dry-run.
func (r *report) tell(one result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(one.outcome, 1, one.bytes)
	var other notAFile
	isOther := errors.As(one.why, &other)
	if isOther {
		r.countOther(kindIndex(fs.FileMode(other)))
	}
	if one.why != nil {
		r.meter.say(fmt.Sprintf("%s: %s", printable(one.path), printable(one.why.Error())))
	}
	switch {
	case r.asJSON:
		l := line{File: one.path, Name: one.name, Outcome: one.outcome, ID: one.id, DryRun: r.dry}
		if one.why != nil {
			l.Why = one.why.Error()
			if isOther {
				l.Kind = otherKinds[kindIndex(fs.FileMode(other))].word
			}
		} else {
			l.Bytes = &one.bytes
		}
		if one.digest != (blobs.Digest{}) {
			l.SHA256 = one.digest.String()
		}
		r.write(func() error { return r.p.writeJSON(l) })
	case r.dry && (one.outcome == sent || one.outcome == replaced):
		verb := map[outcome]string{sent: "send", replaced: "replace"}[one.outcome]
		r.write(func() error {
			_, err := fmt.Fprintf(r.p.Out, "%-7s  %s\n", verb, printable(one.name))
			return err
		})
	}
}

// retell takes a result in place of one with another outcome.
func (r *report) retell(one result, was outcome) {
	r.mu.Lock()
	r.count(was, -1, -one.bytes)
	r.mu.Unlock()
	r.tell(one)
}

func (r *report) countOther(kind int) {
	if r.others == nil {
		r.others = map[int]int{}
	}
	r.others[kind]++
}

// otherCounts are the entries left out, for people: 2 symbolic links, 1 pipe.
func (r *report) otherCounts() string {
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

func (r *report) count(o outcome, files int, bytes int64) {
	count := r.counts[o]
	r.counts[o] = tally{count.Files + files, count.Bytes + bytes}
}

// write writes to standard output. The work goes on where nobody reads that any more, and fails at its end.
func (r *report) write(line func() error) {
	r.meter.aside(func() {
		if err := line(); err != nil && r.broken == nil {
			r.broken = err
		}
	})
}

// done is how many files are in the set.
func (r *report) done() int {
	return r.counts[sent].Files + r.counts[replaced].Files + r.counts[there].Files
}

// end writes the sums, when all is over. left is how many files nothing became of.
func (r *report) end(left int) error {
	r.meter.Close()
	if r.asJSON {
		sums := map[string]any{"left": left}
		if r.dry {
			sums["dryRun"] = true
		}
		if r.renamed > 0 {
			sums["renamed"] = r.renamed
		}
		for _, w := range r.wording {
			sums[string(w.outcome)] = r.counts[w.outcome]
		}
		r.write(func() error { return r.p.writeJSON(map[string]any{"end": sums}) })
		return r.broken
	}
	t := table{}
	for _, w := range r.wording {
		count := r.counts[w.outcome]
		what := fileCount(count.Files)
		if r.only != "" {
			what = r.only
		}
		switch {
		case count.Files == 0:
		case w.outcome == leftOut:
			t.add(w.words, r.otherCounts())
		case w.length:
			t.add(w.words, what+", "+FormatBytes(count.Bytes))
		default:
			t.add(w.words, what)
		}
	}
	if r.renamed > 0 {
		t.add("renamed", fmt.Sprintf("%s; %s has the names that put gives back", fileCount(r.renamed), namesFile))
	}
	if left > 0 {
		t.add("not tried", fileCount(left))
	}
	if len(t.rows) == 0 {
		t.add(r.none)
	}
	r.write(func() error { return t.write(r.p.Out, unlimited) })
	return r.broken
}

// fileCount is a number of files for people.
func fileCount(n int) string {
	if n == 1 {
		return "1 file"
	}
	return strconv.Itoa(n) + " files"
}
