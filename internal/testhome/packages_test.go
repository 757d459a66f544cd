package testhome_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pkg is the output of go list for a package.
type pkg struct {
	ImportPath, Dir string
	Standard        bool
	GoFiles, Deps   []string
}

const guard = "labshelf/internal/testhome"

// homes matches source code that finds a home directory, uses the whole environment, or starts a
// program, which may do so.
var homes = regexp.MustCompile(`\bos\.(User(Home|Config|Cache)Dir|Environ|ExpandEnv)\b|\buser\.Current\b|"os/exec"`)

// variables matches source code that reads single variables. It applies only to labshelf. In other
// modules, such variables are switches.
var variables = regexp.MustCompile(`\bos\.(Getenv|LookupEnv)\b`)

// wrapper is a package that matches homes only because it wraps system calls.
const wrapper = "golang.org/x/sys/"

// unguarded returns the test binaries that can read the person's home directory or environment and
// do not import the guard. reads reports whether the source of a package does so.
func unguarded(list []pkg, reads func(pkg) bool) (found []string) {
	reading := map[string]bool{}
	for _, p := range list {
		reading[p.ImportPath] = !p.Standard && p.ImportPath != guard && reads(p)
	}
	for _, p := range list {
		if !strings.HasSuffix(p.ImportPath, ".test") || slices.Contains(p.Deps, guard) {
			continue
		}
		if at := slices.IndexFunc(p.Deps, func(dep string) bool { return reading[dep] }); at >= 0 {
			found = append(found, p.ImportPath+" through "+p.Deps[at])
		}
	}
	return found
}

// readsPersonal returns a function that examines the source of a package.
func readsPersonal(t *testing.T) func(pkg) bool {
	t.Helper()
	return func(p pkg) bool {
		if strings.HasPrefix(p.ImportPath, wrapper) {
			return false
		}
		for _, file := range p.GoFiles {
			if !filepath.IsAbs(file) {
				file = filepath.Join(p.Dir, file)
			}
			text, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, os.ErrNotExist) { // a generated file that was removed since
				t.Fatal(err)
			}
			if homes.Match(text) || strings.HasPrefix(p.ImportPath, "labshelf/") && variables.Match(text) {
				return true
			}
		}
		return false
	}
}

// TestEveryPackageIsGuarded checks all packages of the program and of its proof. No test binary can
// reach the home directory, the configuration or the environment of the person who runs it.
func TestEveryPackageIsGuarded(t *testing.T) {
	t.Parallel()
	for module, least := range map[string]int{".": 50, "verify": 6} {
		list, tests := packages(t, filepath.Join("..", "..", module))
		if tests < least {
			t.Fatalf("go list found only %d packages with tests in %s", tests, module)
		}
		for _, missing := range unguarded(list, readsPersonal(t)) {
			t.Errorf("%s may reach the home of the person who runs it: import _ %q in a test", missing, guard)
		}
	}
}

// packages lists the packages of the module in a folder with all imports, and counts the test
// binaries.
func packages(t *testing.T, folder string) (list []pkg, tests int) {
	t.Helper()
	cmd := exec.Command("go", "list", "-test", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,Deps", "./...")
	cmd.Dir = folder
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &problems)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return list, tests
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
		if strings.HasSuffix(p.ImportPath, ".test") {
			tests++
		}
	}
}

// TestUnguardedIsFound checks that unguarded finds a test that reads the environment itself, or
// through an imported package.
func TestUnguardedIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"home.go": "package a\nvar dir, _ = os.UserHomeDir()\n", "runs.go": "package a\nimport \"os/exec\"\n", "pure.go": "package a\n",
		"variable.go": "package a\nvar key = os.Getenv(\"LABSHELF_KEY\")\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := []pkg{
		{ImportPath: "home", Dir: dir, GoFiles: []string{"home.go"}},
		{ImportPath: "runs", Dir: dir, GoFiles: []string{"runs.go"}},
		{ImportPath: "labshelf/variable", Dir: dir, GoFiles: []string{"variable.go"}},
		{ImportPath: "pure", Dir: dir, GoFiles: []string{"pure.go"}},
		{ImportPath: "os", Dir: dir, GoFiles: []string{"home.go"}, Standard: true},
		{ImportPath: "direct.test", Deps: []string{"os", "home"}},
		{ImportPath: "children.test", Deps: []string{"pure", "runs"}},
		{ImportPath: "variables.test", Deps: []string{"labshelf/variable"}},
		{ImportPath: "guarded.test", Deps: []string{"home", guard}},
		{ImportPath: "calm.test", Deps: []string{"os", "pure"}},
	}
	if got, want := unguarded(list, readsPersonal(t)), []string{"direct.test through home", "children.test through runs", "variables.test through labshelf/variable"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
