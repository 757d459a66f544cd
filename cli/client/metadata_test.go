package client

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/client"
)

// TestMetadata exports the metadata of a set, imports them unchanged and edited, lists the edit and
// undoes it.
func TestMetadata(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab-one", "runs")
	r := s.put(t, set.ID, "run-1.csv", "text")
	s.put(t, set.ID, "run-2.csv", "text")
	if got := s.run(t, "", "describe", r.ID, "--set", "n:=1"); got.error != nil {
		t.Fatal(got)
	}
	file := filepath.Join(t.TempDir(), "runs.csv")
	want := func(out string, args ...string) (edit string) {
		t.Helper()
		got := s.run(t, "", append([]string{"metadata"}, args...)...)
		begin, edit, _ := strings.Cut(strings.TrimSuffix(got.out, "\n"), " To undo it: labshelf metadata undo ")
		if got.error != nil || got.err != "" || begin != strings.TrimSuffix(out, "\n") {
			t.Errorf("%q: %v, want %q", args, got, out)
		}
		return edit
	}
	want("", "export", "lab-one/runs", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want(string(text), "export", "lab-one/runs", "-")
	want("Nothing to change.\n", "import", "lab-one/runs", file)
	edited := written(t, strings.Replace(string(text), ",1\r\n", ",2 °C\r\n", 1))
	want("FILE       WHAT          BEFORE  AFTER\nrun-1.csv  properties.n  1       {\"value\":2,\"unit\":\"°C\"}\nWould change 1 file of 2.\n", "import", "lab-one/runs", edited, "--preview")
	edit := want("Changed 1 file.", "import", "lab-one/runs", edited)
	var problem *client.Problem
	if got := s.run(t, "", "metadata", "import", "lab-one/runs", written(t, strings.Replace(string(text), ",1\r\n", ",3\r\n", 1))); !errors.As(got.error, &problem) || problem.Code != "precondition_failed" {
		t.Errorf("rows of an older version: %v", got)
	}
	wrong := written(t, strings.Replace(string(text), ",1\r\n", ",{\r\n", 1)+"x,y\r\n")
	if got := s.run(t, "", "metadata", "import", "lab-one/runs", wrong, "--preview"); got.error == nil || !strings.Contains(got.err, "row 4") {
		t.Errorf("a preview of invalid rows: %v", got)
	}
	if got := s.run(t, "", "metadata", "import", "lab-one/runs", wrong, "--preview", "--json"); got.error == nil || !strings.Contains(got.out, `"rows":3,"changed":0,`) || !strings.Contains(got.out, `{"row":4,"column":"id",`) {
		t.Errorf("as JSON: %v", got)
	}
	undo := want("Changed 1 file.", "undo", edit)
	if got := s.run(t, "", "describe", r.ID); got.out != "n  1\n" {
		t.Errorf("after the undo: %v", got)
	}
	got := s.run(t, "", "metadata", "edits", "lab-one/runs")
	lines := strings.Split(got.out, "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[1], undo) || !strings.Contains(lines[1], "undo") || !strings.Contains(lines[1], "  admin  ") || !strings.HasPrefix(lines[2], edit) || !strings.HasSuffix(lines[2], undo) {
		t.Errorf("the edits: %v", got)
	}
	for _, args := range [][]string{{"export", "lab-one/none", "-"}, {"import", "lab-one/runs", file + "x"}, {"undo", "nonsense"}, {"edits"}} {
		if got := s.run(t, "", append([]string{"metadata"}, args...)...); got.error == nil || got.out != "" {
			t.Errorf("%q: %v", args, got)
		}
	}
}
