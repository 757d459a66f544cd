// Command limits counts the files of each package and the methods of each type, on all systems
// together, which no linter of .golangci.yml counts. It prints those over a limit, and exits with 1
// if there are any.
//
//	limits ROOT EXCEPTIONS
//
// EXCEPTIONS is a file of lines "folder|name|at most N: reason". The name is "package" or a type. N
// is the current count: a lower count is a finding too, and so is an exception without effect.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	maxFiles   = 25 // of a package, without tests
	maxMethods = 40 // of a type
)

// apart matches the folders that test the product and do not belong to it.
var apart = regexp.MustCompile(`^(verify|internal)(/|$)`)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: limits ROOT EXCEPTIONS")
		os.Exit(2)
	}
	exceptions, err := os.ReadFile(os.Args[2])
	var found []string
	if err == nil {
		found, err = run(os.DirFS(os.Args[1]), string(exceptions))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "limits:", err)
		os.Exit(2)
	}
	for _, line := range found {
		fmt.Println(line)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

// run returns the findings in a tree, sorted by name, except those that an exception allows.
func run(root fs.FS, exceptions string) ([]string, error) {
	excused, err := parse(exceptions)
	if err != nil {
		return nil, err
	}
	counts, err := count(root)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		got, most := len(counts[key]), maxMethods
		if strings.HasSuffix(key, "|package") {
			most = maxFiles
		}
		ceiling, ok := excused[key]
		delete(excused, key)
		switch {
		case ok && got > most && got < ceiling:
			found = append(found, fmt.Sprintf("exception %s: the count is now %d; lower its limit to %d", key, got, got))
		case ok && got <= most:
			found = append(found, fmt.Sprintf("exception %s has no effect: remove it", key))
		case got > max(most, ceiling):
			found = append(found, fmt.Sprintf("%s: %d, limit %d", key, got, max(most, ceiling)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(excused)) {
		found = append(found, fmt.Sprintf("exception %s has no effect: remove it", key))
	}
	return found, nil
}

// parse returns the ceilings by "folder|name".
func parse(exceptions string) (map[string]int, error) {
	excused := make(map[string]int)
	for i, line := range strings.Split(exceptions, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := strings.SplitN(line, "|", 3)
		n := 0
		if len(part) == 3 {
			_, _ = fmt.Sscanf(part[2], "at most %d:", &n) // n remains 0 if the reason does not match
		}
		if n == 0 {
			return nil, fmt.Errorf("line %d: want folder|name|at most N: reason", i+1)
		}
		excused[part[0]+"|"+part[1]] = n
	}
	return excused, nil
}

// count returns the names of the files of each package and of the methods of each type, by
// "folder|package" and "folder|type". A method that each system defines is counted once.
func count(root fs.FS) (map[string]map[string]bool, error) {
	counts := make(map[string]map[string]bool)
	add := func(key, name string) {
		if counts[key] == nil {
			counts[key] = make(map[string]bool)
		}
		counts[key][name] = true
	}
	return counts, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		folder := path.Dir(name)
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || apart.MatchString(folder) {
			return nil
		}
		add(folder+"|package", name)
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.FuncDecl); ok && d.Recv != nil {
				add(folder+"|"+typeName(d.Recv.List[0].Type), d.Name.Name)
			}
		}
		return nil
	})
}

// typeName returns the name of a receiver's type, which is T, *T, T[K] or *T[K].
func typeName(e ast.Expr) string {
	switch v := e.(type) {
	case *ast.StarExpr:
		return typeName(v.X)
	case *ast.IndexExpr:
		return typeName(v.X)
	case *ast.IndexListExpr:
		return typeName(v.X)
	case *ast.Ident:
		return v.Name
	}
	return ""
}
