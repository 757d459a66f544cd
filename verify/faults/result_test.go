package faults

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"labshelf/verify/e2e"
)

// TestDue logs for each row whether its long run is due, because the durable code has changed since
// the recorded run.
func TestDue(t *testing.T) {
	t.Parallel()
	root, err := e2e.Source(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range durable() {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(place))); err != nil {
			t.Errorf("a path of durable does not exist: %v", err)
		}
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(document)))
	if err != nil {
		t.Fatal(err)
	}
	_, lines, _, err := results(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	dues := map[string]bool{} // by commit
	for _, line := range lines {
		names = append(names, cell(line, 1))
		commit := cell(line, 6)
		due, known := dues[commit]
		if !known {
			due, err = changed(commit)
			dues[commit] = due
		}
		switch {
		case err != nil:
			t.Logf("%s: %v", cell(line, 1), err) // an archive of the tree has no history
		case due:
			t.Logf("%s: due, the durable code has changed since %s", cell(line, 1), commit)
		default:
			t.Logf("%s: up to date", cell(line, 1))
		}
	}
	if !slices.Equal(names, rowNames) {
		t.Errorf("the table has the rows %v, want %v", names, rowNames)
	}
}

// TestDeclarations tests that comments, names, order and files are not treated as a change of code,
// and that other differences are.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	const was = "package a\nimport \"os\"\n// f is.\nfunc f(n int) error { return os.Remove(\"a\") }\nvar x = 1\n"
	for _, c := range []struct {
		name, is string
		same     bool
	}{
		{"comments", "package a\nimport \"os\"\nfunc f(n int) error {\n// why\nreturn os.Remove(\"a\") }\nvar x = 1\n", true},
		{"names", "package b\nimport \"os\"\nfunc g(m int) error { return os.Remove(\"a\") }\nvar y = 1\n", true},
		{"order", "package a\nimport \"os\"\nvar x = 1\nfunc f(n int) error { return os.Remove(\"a\") }\n", true},
		{"a value", "package a\nimport \"os\"\nfunc f(n int) error { return os.Remove(\"b\") }\nvar x = 1\n", false},
		{"a statement", "package a\nimport \"os\"\nfunc f(n int) error { n++; return os.Remove(\"a\") }\nvar x = 1\n", false},
		{"a missing declaration", "package a\nimport \"os\"\nfunc f(n int) error { return os.Remove(\"a\") }\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before, after := declarations{}, declarations{}
			if err := before.read("a.go", []byte(was)); err != nil {
				t.Fatal(err)
			}
			if err := after.read("a.go", []byte(c.is)); err != nil {
				t.Fatal(err)
			}
			same := len(before) == len(after)
			for sum, n := range before {
				same = same && after[sum] == n
			}
			if same != c.same {
				t.Errorf("same: %t, want %t", same, c.same)
			}
		})
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	text := "a\n" + beginMark + "\n| row |\n|---|\n| unknown | 1 |\n" + endMark + "\nb\n"
	for _, line := range []string{"| kill | 1 |", "| kill | 2 |"} {
		var err error
		if text, err = withLine(text, cell(line, 1), line); err != nil {
			t.Fatal(err)
		}
	}
	want := "a\n" + beginMark + "\n| row |\n|---|\n| unknown | 1 |\n| kill | 2 |\n" + endMark + "\nb\n"
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if _, err := withLine("no marks", "kill", "| kill |"); err == nil {
		t.Error("a document without marks was accepted")
	}
}
