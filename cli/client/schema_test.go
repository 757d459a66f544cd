package client

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"errors"
	"labshelf/cli/exit"
	"labshelf/client"
)

// TestSchema creates, lists, shows, changes, deletes and restores a schema. describe reports what
// the schema requires.
func TestSchema(t *testing.T) {
	t.Parallel()
	s := start(t)
	set := s.newSet(t, "lab-one", "runs")
	r := s.put(t, set.ID, "run-1.csv", "text")
	file := filepath.Join(t.TempDir(), "schema.json")
	const text = `{"required":["sample"],"properties":{"sample":{"type":"string"},"n":{"type":"integer"}}}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := func(out string, args ...string) (problems string) {
		t.Helper()
		got := s.run(t, `{"required":["operator"]}`, args...)
		if got.error != nil || got.out != out {
			t.Errorf("%q: %v, want %q", args, got, out)
		}
		return got.err
	}
	want("Created the schema lab-one/measurement.\n", "schema", "new", "lab-one/measurement", file, "--type", "CSV", "--title", "Measurement")
	if got := s.run(t, "", "schema", "ls", "lab-one"); !strings.Contains(got.out, "measurement  Measurement  csv  1") {
		t.Errorf("the list: %v", got)
	}
	const lacks = "The resource run-1.csv does not conform to the schema measurement (version 1):\n  sample is missing\n"
	if got := s.run(t, "", "describe", r.ID); got.error != nil || !strings.HasSuffix(got.err, lacks) {
		t.Errorf("describe: %v", got)
	}
	if got := want("Described the resource run-1.csv.\n", "describe", r.ID, "--set", "n=x"); !strings.Contains(got, "  n must be a whole number") || !strings.Contains(got, "  sample is missing\n") {
		t.Errorf("after a change: %v", got)
	}
	if got := want("Described the resource run-1.csv.\n", "describe", r.ID, "--set", "n:=3", "--set", "sample=S1"); got != "" {
		t.Errorf("after a valid change: %v", got)
	}
	want("n       3\nsample  S1\n", "describe", r.ID)
	want("Changed the schema measurement; its version is 2.\n", "schema", "edit", "lab-one/measurement", "--schema", "-", "--enforce")
	want("{\n  \"required\": [\n    \"operator\"\n  ]\n}\n", "schema", "show", "lab-one/measurement")
	first := s.run(t, "", "schema", "show", "lab-one/measurement", "--version", "1")
	var a, b any
	if json.Unmarshal([]byte(first.out), &a) != nil || json.Unmarshal([]byte(text), &b) != nil || len(a.(map[string]any)) != len(b.(map[string]any)) {
		t.Errorf("the first version: %v", first)
	}
	if got := s.run(t, "", "schema", "versions", "lab-one/measurement"); len(strings.Split(got.out, "\n")) != 4 {
		t.Errorf("the versions: %v", got)
	}
	var problem *client.Problem
	if got := s.run(t, "", "describe", r.ID, "--metadata", written(t, `{"schema":{"version":2}}`)); !errors.As(got.error, &problem) || problem.Field != "metadata.properties.operator" {
		t.Errorf("a refused change: %v", got)
	}
	want("Changed the schema measurement; its version is 2.\n", "schema", "edit", "lab-one/measurement", "--type", "all", "--enforce=false")
	all := must[[]client.Schema](t)(s.client.Schemas.List(t.Context(), set.DataspaceID))
	if len(all) != 1 || len(all[0].Types) != 0 || all[0].Enforce {
		t.Errorf("the schemas are %+v", all)
	}
	want("Deleted the schema measurement. To restore it: labshelf schema restore "+all[0].ID+"\n", "schema", "rm", "lab-one/measurement")
	if got := s.run(t, "", "schema", "ls", "lab-one"); got.out != "" || got.err != "The dataspace has no schemas.\n" {
		t.Errorf("after rm: %v", got)
	}
	want("Restored the schema measurement.\n", "schema", "restore", "lab-one/measurement")
	for _, args := range [][]string{
		{"new", "measurement", file}, {"new", "lab-one/other", written(t, "no JSON")}, {"edit", all[0].ID}, {"new", "lab-one/other", file + "x"}, {"show", "lab-one/nothing"}, {"ls"},
	} {
		if got := s.run(t, "", append([]string{"schema"}, args...)...); got.error == nil || got.out != "" {
			t.Errorf("%q: %v", args, got)
		}
	}
	if got := s.run(t, "", "schema", "new", "lab-one/other", written(t, `{"type":"strin"}`)); !errors.As(got.error, &problem) || problem.Field != "schema" || !strings.Contains(problem.Detail, "/type") {
		t.Errorf("no JSON Schema: %v", got)
	}
	if got := s.run(t, "", "schema", "edit", all[0].ID); !errors.Is(got.error, exit.ErrUsage) {
		t.Errorf("without flags: %v", got)
	}
}

// written writes text to a new file.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
