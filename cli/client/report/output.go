package report

import (
	"io"

	"labshelf/cli/meter"
)

// Output is where a command writes its results and its progress.
type Output struct {
	Out      io.Writer                      // results
	Err      io.Writer                      // messages
	JSON     bool                           // each result as a line of JSON
	NewMeter func(what string) *meter.Meter // returns a meter for work called what; the caller closes it
}

// New returns a report in the given words; none is its text if there are no files.
func New(to Output, m *meter.Meter, words Wording, none string) *Report {
	return &Report{Output: to, meter: m, wording: words, none: none, Counts: map[Outcome]tally{}}
}
