// Command limits measures every Go file of a module against the limits of size, prints what is over
// a limit and, at the end, the longest files and functions. It exits with 1 when it found
// something.
//
//	limits ROOT EXCEPTIONS
//
// EXCEPTIONS is a file of lines "path|name|reason". The name is the one of the finding: "file",
// "package", "comments", or a function or type. A reason that begins with "at most N:" excuses N
// and no more, and shrinks: N is the measure of today. An exception that excuses nothing is a
// finding too.
package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// The limits. Only the first two count in tests, where a table or a scenario may be long.
const (
	maxFile      = 400 // lines
	maxComment   = 100 // columns of a line that is a comment; a tab has four
	maxFiles     = 25  // of a package, without tests, for all systems together
	maxFunc      = 60  // lines, from the signature to the closing brace
	maxNesting   = 3   // if, for, switch and select inside each other; "else if" is no level of its own
	maxMethods   = 5   // of an interface, with the methods of the interfaces that it embeds
	maxOfType    = 40  // methods of any other type, in all files of its package
	maxArguments = 4   // of a function named New… or Open…
)

// modulePath is what import paths of the product begin with.
const modulePath = "labshelf"

// finding is one measure over its limit, or one rule broken.
type finding struct {
	path string // relative to the root, with slashes
	line int    // 0: of all of it
	name string
	text string
	got  int // the measure, 0 for a rule
}

func (f finding) at() string {
	if f.line == 0 {
		return f.path
	}
	return fmt.Sprintf("%s:%d", f.path, f.line)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: limits ROOT EXCEPTIONS")
		os.Exit(2)
	}
	found, err := run(os.DirFS(os.Args[1]), os.Args[2], folderOf(os.Args[1]), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		os.Exit(2)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// folderOf returns how to find the folder of a package that is imported by the module in a folder
// and is no part of it.
func folderOf(root string) func(importPath string) (fs.FS, error) {
	return func(importPath string) (fs.FS, error) {
		list := exec.Command("go", "list", "-f", "{{.Dir}}", importPath)
		list.Dir, list.Stderr = root, os.Stderr
		dir, err := list.Output()
		return os.DirFS(strings.TrimSpace(string(dir))), err
	}
}

// run measures the tree, writes the report to out and returns the number of findings that no
// exception excuses. folder is asked for packages outside of the module whose interfaces are
// embedded.
func run(root fs.FS, exceptions string, folder func(string) (fs.FS, error), out io.Writer) (int, error) {
	excused, err := readExceptions(exceptions)
	if err != nil {
		return 0, err
	}
	module := &module{root: root, path: modulePath, folder: folder, types: make(map[string]map[string]declared)}
	all := report{module: module, packages: make(map[string]int), ofTypes: make(map[owner]map[string]bool)}
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		return all.measure(path, source)
	})
	if err != nil {
		return 0, err
	}
	all.folders()
	all.types()
	return all.print(out, excused)
}

// readExceptions returns the reasons by "path|name". A line without all three parts is an error.
func readExceptions(name string) (map[string]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	excused := make(map[string]string)
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.SplitN(line, "|", 3)
		if len(part) != 3 || slices.Contains(part, "") {
			return nil, fmt.Errorf("%s:%d: want path|name|reason", name, i+1)
		}
		excused[part[0]+"|"+part[1]] = part[2]
	}
	return excused, nil
}

// bound returns N of a reason that begins with "at most N:".
func bound(reason string) (n int, ok bool) {
	got, err := fmt.Sscanf(reason, "at most %d:", &n)
	return n, got == 1 && err == nil
}

// print writes the findings in the order of the walk, then unused exceptions, then the longest
// files and functions.
func (r *report) print(out io.Writer, excused map[string]string) (int, error) {
	var text strings.Builder
	count, used := 0, make(map[string]bool)
	for _, f := range r.findings {
		key := f.path + "|" + f.name
		if reason, ok := excused[key]; ok {
			used[key] = true
			ceiling, bounded := bound(reason)
			if !bounded || ceiling == f.got {
				continue
			}
			f.text += fmt.Sprintf(", excused: at most %d", ceiling)
			if f.got < ceiling {
				f.text += "; lower it"
			}
		}
		count++
		fmt.Fprintf(&text, "%s: %s: %s\n", f.at(), f.name, f.text)
	}
	for key := range excused {
		if !used[key] {
			count++
			fmt.Fprintf(&text, "exception %s excuses nothing: take it out\n", key)
		}
	}
	for _, list := range [][]size{r.files, r.funcs} {
		slices.SortStableFunc(list, func(a, b size) int { return b.lines - a.lines })
		for _, s := range list[:min(3, len(list))] {
			fmt.Fprintf(&text, "  %3d lines  %s\n", s.lines, s.what)
		}
	}
	_, err := io.WriteString(out, text.String())
	return count, err
}
