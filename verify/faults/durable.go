package faults

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// durable lists what makes changes durable, by folder or by file: a change of it obliges to run the long rows again.
func durable() []string {
	return []string{
		"blobs", "backup",
		"bolt/bodies.go", "bolt/blobs.go", "bolt/commit.go", "bolt/create.go", "bolt/durable.go", "bolt/file.go", "bolt/open.go",
		"bolt/snapshot.go", "bolt/update.go",
		"repository/bodies.go", "repository/hold.go", "repository/mover.go", "repository/purge.go",
		"repository/sweeper.go", "repository/transfers.go", "repository/unreferenced.go", "repository/uploads.go",
	}
}

// changed tells whether the durable code of the work tree says more than it did at a commit. Comments, positions and names do not
// count, nor in which file a declaration stands.
func changed(commit string) (bool, error) {
	root, err := moduleRoot()
	if err != nil {
		return false, err
	}
	list, err := git(append([]string{"ls-tree", "-r", "--name-only", commit, "--"}, durable()...)...)
	if err != nil {
		return false, err
	}
	was, is := declarations{}, declarations{}
	for name := range strings.FieldsSeq(list) {
		if !product(name) {
			continue
		}
		text, err := git("show", commit+":"+name)
		if err != nil {
			return false, err
		}
		if err := was.read(name, []byte(text)); err != nil {
			return false, err
		}
	}
	for _, place := range durable() {
		files := []string{filepath.Join(root, filepath.FromSlash(place))}
		if path.Ext(place) == "" {
			if files, err = filepath.Glob(filepath.Join(files[0], "*.go")); err != nil {
				return false, err
			}
		}
		for _, file := range files {
			if !product(file) {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return false, err
			}
			if err := is.read(file, text); err != nil {
				return false, err
			}
		}
	}
	return !maps.Equal(was, is), nil
}

func product(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(path.Dir(name), "test")
}

// declarations counts the declarations of some files, each by the sum of its tree without names.
type declarations map[[sha256.Size]byte]int

func (d declarations) read(name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution) // without comments
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		if imports, ok := decl.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				id.Name = "x"
			}
			return true
		})
		var b strings.Builder
		if err := format.Node(&b, token.NewFileSet(), decl); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		d[sha256.Sum256([]byte(strings.Join(strings.Fields(b.String()), " ")))]++
	}
	return nil
}
