package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// module resolves names of types across packages, without checking types: an interface in a file
// for another system counts too.
type module struct {
	root   fs.FS
	path   string                                 // what the module's import paths begin with
	folder func(importPath string) (fs.FS, error) // the folder of a package outside of the module
	types  map[string]map[string]declared         // by import path of the package, read when first asked for
}

// declared is the declaration of a type, with the file that its imports are in.
type declared struct {
	*ast.TypeSpec
	file *ast.File
	home string // import path
}

// methods adds to names the methods that values of the type have if it is an interface: its own,
// and those of all that it embeds.
func (m *module) methods(expr ast.Expr, at declared, names map[string]bool) error {
	switch v := expr.(type) {
	case *ast.InterfaceType:
		for _, field := range v.Methods.List {
			for _, name := range field.Names {
				names[name.Name] = true
			}
			if len(field.Names) > 0 {
				continue
			}
			if err := m.methods(field.Type, at, names); err != nil {
				return err
			}
		}
	case *ast.Ident:
		if v.Name == "error" {
			names["Error"] = true
		}
		return m.named(at.home, v.Name, names)
	case *ast.SelectorExpr:
		home, err := importPath(at.file, typeName(v.X))
		if err != nil {
			return err
		}
		return m.named(home, v.Sel.Name, names)
	case *ast.IndexExpr:
		return m.methods(v.X, at, names)
	case *ast.IndexListExpr:
		return m.methods(v.X, at, names)
	}
	return nil // a union, or no interface
}

// named is methods of a type that is known by its name. One that is not declared is built in.
func (m *module) named(home, name string, names map[string]bool) error {
	types, err := m.load(home)
	if err != nil {
		return err
	}
	if t, ok := types[name]; ok {
		return m.methods(t.Type, t, names)
	}
	return nil
}

// load returns the types of a package by their names.
func (m *module) load(home string) (map[string]declared, error) {
	if types, ok := m.types[home]; ok {
		return types, nil
	}
	folder, err := m.open(home)
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(folder, "*.go")
	if err != nil {
		return nil, err
	}
	types := make(map[string]declared)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		addTypes(types, file, home)
	}
	m.types[home] = types
	return types, nil
}

func (m *module) open(home string) (fs.FS, error) {
	if home == m.path {
		return m.root, nil
	}
	if inside, ok := strings.CutPrefix(home, m.path+"/"); ok {
		return fs.Sub(m.root, inside)
	}
	return m.folder(home)
}

func addTypes(types map[string]declared, file *ast.File, home string) {
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		for _, spec := range general.Specs {
			t := spec.(*ast.TypeSpec)
			types[t.Name.Name] = declared{t, file, home}
		}
	}
}

// importPath returns what a file imports by a name. An import without a name of its own has that of
// its last folder.
func importPath(file *ast.File, name string) (string, error) {
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return "", err
		}
		if spec.Name == nil && path.Base(imported) == name || spec.Name != nil && spec.Name.Name == name {
			return imported, nil
		}
	}
	return "", fmt.Errorf("%s is imported by no name that its path shows", name)
}
