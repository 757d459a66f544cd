package cli

import (
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"labshelf/cli/process"
	"labshelf/docs"
)

// namesOfPages matches the ways in which messages and pages name a page: docs/x.md,
// docs/how-to/x.md and labshelf help x.
var namesOfPages = regexp.MustCompile("\\bdocs/(?:[a-z-]+/)?([a-z-]+\\.md)|(?:\\blabshelf |`|\" )help ([a-z][a-z-]*)")

// TestNamedPagesAreInTheExecutable reads everything in the source tree that users can see: string
// literals, help topics, pages, the guide, the README and the OpenAPI document. The executable must
// contain each page that they name.
func TestNamedPagesAreInTheExecutable(t *testing.T) {
	t.Parallel()
	root := rootCommand(process.Process{Out: io.Discard, Err: io.Discard})
	found := map[string]int{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." || skippedFolders[entry.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		for _, m := range namesOfPages.FindAllStringSubmatch(shownText(t, path), -1) {
			found[filepath.Ext(path)]++
			if m[1] != "" {
				if _, err := docs.Read(m[1]); err != nil && m[1] != "guide.md" { // the guide is in web/src/docs
					t.Errorf("%s names %s: %v", path, m[0], err)
				}
			} else if cmd, rest, err := root.Find([]string{m[2]}); err != nil || len(rest) > 0 || cmd == root {
				t.Errorf("%s names %q: no such command or topic", path, m[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{".go", ".md", ".txt", ".toml", ".yaml"} {
		if found[kind] == 0 {
			t.Errorf("found no name of a page in files %s", kind)
		}
	}
}

// skippedFolders contain nothing that users see.
var skippedFolders = map[string]bool{"dist": true, "vendor": true, "node_modules": true, "testdata": true, "verify": true}

// shownText returns the part of a source file that users can see: the string literals of a Go file,
// and the whole of any other file.
func shownText(t *testing.T, path string) string {
	t.Helper()
	base := filepath.Base(path)
	switch filepath.Ext(path) {
	case ".md", ".txt", ".toml", ".yaml", ".ts", ".tsx":
		// history, and pages for developers
		if base == "CHANGELOG.md" || base == "CONTRIBUTING.md" || strings.Contains(filepath.ToSlash(path), "docs/decisions/") {
			return ""
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	case ".go":
		if strings.HasSuffix(base, "_test.go") {
			return ""
		}
		return stringLiterals(t, path)
	}
	return ""
}

func stringLiterals(t *testing.T, path string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile(path, -1, len(source)), source, nil, 0)
	var all strings.Builder
	for {
		_, kind, text := s.Scan()
		if kind == token.EOF {
			return all.String()
		}
		if kind == token.STRING {
			all.WriteString(text + "\n")
		}
	}
}
