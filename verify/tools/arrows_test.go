// Package tools_test tests that the linters find what the rules of this repository forbid.
package tools_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// arrows lists imports, and whether .golangci.yml refuses them. Each import gets its own file. The
// test shows that the rules match files and folders, and which of allow and deny takes precedence.
var arrows = []struct {
	folder, file, path string
	refused            bool
}{
	{"auth", "p.go", "labshelf/metadata", true},
	{"blobs", "p.go", "labshelf/auth", true},
	{"blobs/s3", "p.go", "labshelf/blobs", false},
	{"blobs/s3", "p.go", "net/http", false},
	{"blobs/s3", "p.go", "labshelf/metadata", true},
	{"metadata", "p.go", "labshelf/blobs", false},
	{"metadata", "p.go", "labshelf/metadata/tables", true},
	{"metadata", "p.go", "labshelf/repository", true},
	{"metadata/tables", "p.go", "labshelf/metadata", false},
	{"metadata/tables", "p.go", "labshelf/bolt", true},
	{"bolt", "p.go", "labshelf/metadata/tables", false},
	{"bolt", "p.go", "labshelf/repository", true},
	{"bolt", "p.go", "go.etcd.io/bbolt", false},
	{"repository", "p.go", "go.etcd.io/bbolt", true},
	{"repository", "p.go", "labshelf/metadata", false},
	{"repository", "p.go", "labshelf/handlers", true},
	{"repository", "p.go", "net/http", true},
	{"repository", "p_test.go", "labshelf/handlers", false},
	{"repository", "p.go", "log/slog", true},
	{"repository/core", "p.go", "labshelf/repository/describe", true},
	{"repository/describe", "p.go", "labshelf/repository/core", false},
	{"repository/describe", "p.go", "labshelf/repository/containers", true},
	{"repository/containers", "p.go", "labshelf/repository/describe", false},
	{"repository/containers", "p.go", "labshelf/repository/files", true},
	{"repository/files", "p.go", "labshelf/repository/containers", false},
	{"repository/files", "p.go", "labshelf/repository/folders", true},
	{"repository/folders", "p.go", "labshelf/repository/files", false},
	{"repository/folders", "p.go", "labshelf/repository/links", true},
	{"repository/links", "p.go", "labshelf/repository/folders", false},
	{"repository/links", "p.go", "labshelf/repository", true},
	{"repository/watch", "p.go", "labshelf/repository/core", false},
	{"repository/watch", "p.go", "labshelf/repository/files", true},
	{"repository/maintenance", "p.go", "labshelf/repository/core", false},
	{"repository/maintenance", "p.go", "labshelf/repository/describe", true},
	{"repository/internal/inner", "p.go", "labshelf/repository", true},
	{"search/index", "p.go", "labshelf/metadata", true},
	{"handlers", "p.go", "labshelf/repository", false},
	{"handlers", "p.go", "labshelf/bolt", true},
	{"handlers", "p.go", "labshelf/handlers/dav", false},
	{"handlers", "p.go", "log/slog", false},
	{"handlers/dav", "p.go", "labshelf/handlers/wire", false},
	{"handlers/dav", "p.go", "labshelf/handlers/links", true},
	{"handlers/dav", "p.go", "labshelf/handlers", true},
	{"handlers/internal/exchange", "p.go", "labshelf/handlers/links", true},
	{"client", "p.go", "labshelf/handlers/wire", false},
	{"client", "p.go", "labshelf/repository", true},
	{"handlers/wire", "p.go", "labshelf/metadata", true},
	{"cli/client", "p.go", "labshelf/client", false},
	{"cli/client", "p.go", "labshelf/repository", true},
	{"cli/server", "p.go", "labshelf/postgres", false},
	{"cli/exit", "p.go", "labshelf/cli/display", true},
	{".", "p.go", "labshelf/cli", false},
	{".", "p.go", "labshelf/handlers", true},
	{"newroom", "p.go", "labshelf/metadata", true},
	{"cli/newroom", "p.go", "labshelf/metadata", true},
	{"roomtest", "p.go", "labshelf/handlers", false},
}

func TestArrows(t *testing.T) {
	t.Parallel()
	root := moduleTree(t)
	for _, a := range arrows {
		if folder, ok := strings.CutPrefix(a.path, "labshelf/"); ok {
			write(t, filepath.Join(root, folder, "p.go"), "package p\n")
		}
	}
	// The sources are in separate folders, so that no import creates a cycle.
	name := func(i int) string { return filepath.Join("arrows", fmt.Sprint(i), arrows[i].folder, arrows[i].file) }
	for i, a := range arrows {
		write(t, filepath.Join(root, name(i)), fmt.Sprintf("package p\n\nimport _ %q\n", a.path))
	}
	out := lint(t, root, "depguard")
	for i, a := range arrows {
		if refused := strings.Contains(out, name(i)+":"); refused != a.refused {
			t.Errorf("%s/%s imports %s: refused %t, want %t", a.folder, a.file, a.path, refused, a.refused)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestSizes tests each linter that measures sizes, with a finding and with the largest allowed
// size.
func TestSizes(t *testing.T) {
	t.Parallel()
	root := moduleTree(t)
	long := func(lines int) string {
		return fmt.Sprintf("package p\n\nfunc f() {\n%s}\n", strings.Repeat("\tprint()\n", lines))
	}
	files := map[string]struct{ text, want string }{
		"function":       {long(61), "too long"},
		"functionlimit":  {long(60), ""},
		"file":           {"package p\n" + strings.Repeat("//\n", 400), "401 lines"},
		"filelimit":      {"package p\n" + strings.Repeat("//\n", 399), ""},
		"nesting":        {"package p\n\nfunc f(a bool) {\n\tif a {\n\t\tif a {\n\t\t\tif a {\n\t\t\t\tif a {\n\t\t\t\t}\n\t\t\t}\n\t\t}\n\t}\n}\n", "nesting exceeds 3"},
		"interface":      {"package p\n\ntype i interface { A(); B(); C(); D(); E(); F() }\n", "more than 5 methods"},
		"interfacelimit": {"package p\n\ntype i interface { A(); B(); C(); D(); E() }\n", ""},
		"init":           {"package p\n\nfunc init() {}\n", "gochecknoinits"},
		"context":        {"package p\n\nimport \"context\"\n\ntype t struct {\n\tctx context.Context\n}\n", "context.Context field"},
		"bare":           {"package p\n\nfunc F() {}\n", "should have comment"},
		"otherform":      {"package p\n\n// It does nothing.\nfunc F() {}\n", "should be of the form"},
		"comment":        {"package p\n\n// " + strings.Repeat("long ", 20) + "\n", "line is 103 characters long"},
		"commentlimit":   {"package p\n\n//" + strings.Repeat(" long", 19) + " li\nvar a = \"" + strings.Repeat("long ", 40) + "\"\n", ""},
		"address":        {"package p\n\n// https://example.org/" + strings.Repeat("long", 40) + "\n", ""},
	}
	for folder, file := range files {
		write(t, filepath.Join(root, folder, "p.go"), file.text)
	}
	out := lint(t, root, "containedctx", "funlen", "gochecknoinits", "interfacebloat", "lll", "revive")
	for folder, file := range files {
		var lines []string
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, folder+"/p.go:") {
				lines = append(lines, line)
			}
		}
		if len(lines) != min(len(file.want), 1) || !strings.Contains(strings.Join(lines, ""), file.want) {
			t.Errorf("%s: %q, want %q", folder, lines, file.want)
		}
	}
}

func TestErrcheckFindsUnsyncedFiles(t *testing.T) {
	t.Parallel()
	root := moduleTree(t)
	write(t, filepath.Join(root, "blobs", "p.go"), `package blobs

import "os"

func f(file *os.File) error {
	defer file.Close()
	file.Sync()
	file.Close()
	os.Remove(file.Name())
	return file.Close()
}
`)
	out := lint(t, root, "errcheck")
	for line := 6; line <= 9; line++ {
		if !strings.Contains(out, fmt.Sprintf("p.go:%d:", line)) {
			t.Errorf("line %d has no finding", line)
		}
	}
	if strings.Count(out, "p.go:") != 4 {
		t.Errorf("want 4 findings:\n%s", out)
	}
}

// moduleTree creates a module labshelf with the rules of this repository and an empty bbolt.
func moduleTree(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "labshelf")
	rules, err := os.ReadFile(filepath.Join("..", "..", ".golangci.yml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, ".golangci.yml"), string(rules))
	write(t, filepath.Join(root, "go.mod"), "module labshelf\n\ngo 1.26\n\nrequire go.etcd.io/bbolt v1.0.0\n\nreplace go.etcd.io/bbolt => ./bbolt\n")
	write(t, filepath.Join(root, "bbolt", "go.mod"), "module go.etcd.io/bbolt\n\ngo 1.26\n")
	write(t, filepath.Join(root, "bbolt", "p.go"), "package p\n")
	return root
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// lint runs linters of .golangci.yml in the folder root and returns their output. It fails the test
// if they find nothing.
func lint(t *testing.T, root string, linters ...string) string {
	t.Helper()
	run := exec.Command("golangci-lint", "run", "--allow-parallel-runners", "--enable-only", strings.Join(linters, ","), "./...")
	run.Dir = root
	out, err := run.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("golangci-lint: %v, want findings\n%s", err, out)
	}
	return string(out)
}
