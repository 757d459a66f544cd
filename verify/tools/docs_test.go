package tools_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documentedPath matches a path in a document: code, relative to the root, with a folder and an
// extension.
var documentedPath = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+\\.(?:go|txtar|diff|tsx?|yaml))`")

// TestDocumentedPathsExist tests that each file named by a document exists. It skips paths whose
// first element is not a folder of the repository: they are paths of a user's machine or of the
// service.
func TestDocumentedPathsExist(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../..")
	documents, err := fs.Glob(root, "docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range append(documents, "README.md", "CONTRIBUTING.md") {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range documentedPath.FindAllStringSubmatch(string(text), -1) {
			path := match[1]
			first, _, _ := strings.Cut(path, "/")
			if _, err := os.Stat(filepath.Join("..", "..", first)); err != nil {
				continue
			}
			found++
			if _, err := fs.Stat(root, path); errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s names %s, which does not exist", name, path)
			}
		}
	}
	if found == 0 {
		t.Error("no path was found in any document")
	}
}
