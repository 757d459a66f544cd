package faults

import (
	"context"
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

	"labshelf/verify/e2e"
)

// durable lists the folders and files with the code that makes changes durable. A change of them
// requires the long rows.
func durable() []string {
	return []string{
		"blobs", "backup", "metadata/groupcommit",
		"bolt/commit.go", "bolt/copies.go", "bolt/fsck/meta.go", "bolt/open.go", "bolt/schema.go", "bolt/kv.go", "bolt/store.go", "metadata/tables/blobs.go", "metadata/tables/schema.go", "metadata/tables/table.go", "metadata/tables/tx.go",
		"repository/inline", "repository/internal/rows", "repository/internal/storage", "repository/resumable",
		"repository/maintenance/purge.go", "repository/maintenance/sweep.go", "repository/maintenance/unreferenced.go",
		"repository/files/chunks.go", "repository/files/bodies.go", "repository/files/uploads.go",
	}
}

// changed reports whether the durable code of the work tree differs from the code of a commit. It
// ignores comments, names, positions, and the distribution of declarations over files.
func changed(commit string) (bool, error) {
	root, err := e2e.Source(context.Background())
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

// declarations counts declarations by the digest of their syntax trees without names.
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
