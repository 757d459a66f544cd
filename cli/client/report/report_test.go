package report

import (
	"bytes"
	"io"
	"io/fs"
	"strings"
	"testing"

	"labshelf/cli/meter"
)

// TestReportOfOthers: the totals count entries that are not files by kind, and the JSON output
// contains the kind.
func TestReportOfOthers(t *testing.T) {
	t.Parallel()
	entries := []fs.FileMode{fs.ModeSymlink, fs.ModeNamedPipe, fs.ModeSymlink, fs.ModeSocket, fs.ModeDevice | fs.ModeCharDevice, fs.ModeIrregular}
	for asJSON, want := range map[bool]string{
		false: "left out  2 symbolic links, 1 pipe, 1 socket, 1 device, 1 other entry\n",
		true:  `"outcome":"skipped","why":"left out, since it is a pipe","kind":"pipe"`,
	} {
		var out bytes.Buffer
		r := New(Output{Out: &out, JSON: asJSON}, meter.New(io.Discard, "put"), Wording{{Skipped, "left out", false}}, "")
		for _, mode := range entries {
			r.Tell(Result{Path: "entry", Outcome: Skipped, Why: NotAFile(mode)})
		}
		if err := r.End(0); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v, %q", err, out.String())
		}
	}
}
