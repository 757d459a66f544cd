package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// importOf matches an import of another source, including lazy imports and imports of types.
var importOf = regexp.MustCompile(`\b(?:from|import)\s*\(?\s*"(\.[^"]+)"`)

// verifyImports returns an error if sources in WEB/src import each other in a cycle. esbuild does
// not report imports of types.
func verifyImports(web string) error {
	src := os.DirFS(filepath.Join(web, "src"))
	graph := map[string][]string{}
	err := fs.WalkDir(src, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		graph[file] = nil
		if !strings.HasSuffix(file, ".ts") && !strings.HasSuffix(file, ".tsx") {
			return nil
		}
		text, err := fs.ReadFile(src, file)
		for _, found := range importOf.FindAllSubmatch(text, -1) {
			graph[file] = append(graph[file], path.Join(path.Dir(file), string(found[1])))
		}
		return err
	})
	if err != nil {
		return err
	}
	if found := cycle(graph); found != nil {
		return fmt.Errorf("src: an import cycle: %s", strings.Join(found, " → "))
	}
	return nil
}

// cycle returns the files of an import cycle, or nil. The first file is repeated at the end.
// Imports may omit .ts and .tsx.
func cycle(graph map[string][]string) (found []string) {
	done := map[string]bool{}
	var trail []string
	var visit func(file string) bool
	visit = func(file string) bool {
		for _, suffix := range []string{".ts", ".tsx"} {
			if _, is := graph[file+suffix]; is {
				file += suffix
			}
		}
		if at := slices.Index(trail, file); at >= 0 {
			found = append(trail[at:], file)
			return true
		}
		if done[file] {
			return false
		}
		done[file] = true
		trail = append(trail, file)
		defer func() { trail = trail[:len(trail)-1] }()
		return slices.ContainsFunc(graph[file], visit)
	}
	for file := range graph {
		if visit(file) {
			return found
		}
	}
	return nil
}
