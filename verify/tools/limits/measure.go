package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// report gathers what was measured, file by file.
type report struct {
	*module
	findings     []finding
	files, funcs []size
	packages     map[string]int            // files of the product by folder, for every system, without tests
	ofTypes      map[owner]map[string]bool // names of methods: a system may have its own
}

// owner is a type with methods.
type owner struct{ folder, name string }

// size is the length of one file or function.
type size struct {
	lines int
	what  string
}

// source is one parsed file with the report that its findings go to.
type source struct {
	*report
	path string
	test bool
	fset *token.FileSet
	file *ast.File
}

// apart matches the folders of packages that are no part of the product: what proves it.
var apart = regexp.MustCompile(`^(verify|internal)(/|$)|test$`)

// measure adds one file to the report. Generated files are left out.
func (r *report) measure(name string, text []byte) error {
	s := source{report: r, path: name, test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet()}
	file, err := parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s.file = file
	if folder := path.Dir(name); !s.test && !apart.MatchString(folder) {
		r.packages[folder]++
	}
	if ast.IsGenerated(file) {
		return nil
	}
	lines := s.fset.File(file.Package).LineCount()
	r.files = append(r.files, size{lines, name})
	s.limit(file.Package, "file", lines, maxFile, "lines")
	s.comments(text)
	if s.test {
		return nil
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			s.function(d)
		case *ast.GenDecl:
			if err := s.general(d); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// folders adds a finding for each package of too many files.
func (r *report) folders() {
	for _, folder := range slices.Sorted(maps.Keys(r.packages)) {
		if n := r.packages[folder]; n > maxFiles {
			r.findings = append(r.findings, finding{folder, 0, "package", fmt.Sprintf("%d files, limit %d", n, maxFiles), n})
		}
	}
}

// types adds a finding for each type of too many methods.
func (r *report) types() {
	byName := func(a, b owner) int { return cmp.Or(cmp.Compare(a.folder, b.folder), cmp.Compare(a.name, b.name)) }
	for _, o := range slices.SortedFunc(maps.Keys(r.ofTypes), byName) {
		if n := len(r.ofTypes[o]); n > maxOfType {
			r.findings = append(r.findings, finding{o.folder, 0, o.name, fmt.Sprintf("%d methods, limit %d", n, maxOfType), n})
		}
	}
}

// comments adds a finding when lines that are comments are too wide.
func (s *source) comments(text []byte) {
	lines := strings.Split(string(text), "\n")
	wide, first := 0, token.NoPos
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			line := lines[s.fset.Position(c.Pos()).Line-1]
			before, _, _ := strings.Cut(line, "//")
			columns := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
			if strings.TrimSpace(before) == "" && columns > maxComment && strings.Contains(strings.TrimLeft(line, "\t/ "), " ") {
				wide++
				first = cmp.Or(first, c.Pos())
			}
		}
	}
	if wide > 0 {
		s.findings = append(s.findings, finding{s.path, s.fset.Position(first).Line, "comments", fmt.Sprintf("%d lines of over %d columns", wide, maxComment), wide})
	}
}

// limit adds a finding when got is over most.
func (s *source) limit(at token.Pos, name string, got, most int, unit string) {
	if got > most {
		s.find(at, name, fmt.Sprintf("%d %s, limit %d", got, unit, most))
		s.findings[len(s.findings)-1].got = got
	}
}

func (s *source) find(at token.Pos, name, text string) {
	s.findings = append(s.findings, finding{s.path, s.fset.Position(at).Line, name, text, 0})
}

func (s *source) function(d *ast.FuncDecl) {
	name, exported := d.Name.Name, d.Name.IsExported()
	if d.Recv != nil {
		receiver := typeName(d.Recv.List[0].Type)
		if folder := path.Dir(s.path); !apart.MatchString(folder) {
			o := owner{folder, receiver}
			if s.ofTypes[o] == nil {
				s.ofTypes[o] = make(map[string]bool)
			}
			s.ofTypes[o][d.Name.Name] = true
		}
		name, exported = receiver+"."+name, exported && ast.IsExported(receiver)
	}
	if exported && d.Doc == nil && !spokenFor(d) {
		s.find(d.Pos(), name, "exported without a comment")
	}
	if name == "init" {
		s.find(d.Pos(), name, "no init functions: wire it in cli")
	}
	lines := s.fset.Position(d.End()).Line - s.fset.Position(d.Pos()).Line + 1
	s.funcs = append(s.funcs, size{lines, s.path + ": " + name})
	s.limit(d.Pos(), name, lines, maxFunc, "lines")
	s.limit(d.Pos(), name, nesting(d), maxNesting, "levels of nesting")
	if d.Recv == nil && (strings.HasPrefix(name, "New") || strings.HasPrefix(name, "Open")) {
		s.limit(d.Pos(), name, d.Type.Params.NumFields(), maxArguments, "arguments")
	}
}

// spokenFor reports whether d is a method whose meaning the standard library has written down.
func spokenFor(d *ast.FuncDecl) bool {
	switch d.Name.Name {
	case "Error", "Unwrap", "String":
		return d.Recv != nil
	}
	return false
}

// general looks at types, constants and variables. One comment above a group speaks for its
// members.
func (s *source) general(d *ast.GenDecl) error {
	for _, spec := range d.Specs {
		switch v := spec.(type) {
		case *ast.TypeSpec:
			if v.Name.IsExported() && d.Doc == nil && v.Doc == nil {
				s.find(v.Pos(), v.Name.Name, "exported without a comment")
			}
			if err := s.shape(v); err != nil {
				return err
			}
		case *ast.ValueSpec:
			if v.Names[0].IsExported() && d.Doc == nil && v.Doc == nil && v.Comment == nil {
				s.find(v.Pos(), v.Names[0].Name, "exported without a comment")
			}
		}
	}
	return nil
}

// shape measures an interface and refuses a context kept in a struct.
func (s *source) shape(t *ast.TypeSpec) error {
	switch v := t.Type.(type) {
	case *ast.InterfaceType:
		names := make(map[string]bool)
		if err := s.methods(v, declared{t, s.file, path.Join(s.module.path, path.Dir(s.path))}, names); err != nil {
			return err
		}
		s.limit(t.Pos(), t.Name.Name, len(names), maxMethods, "methods")
	case *ast.StructType:
		for _, field := range v.Fields.List {
			selector, ok := field.Type.(*ast.SelectorExpr)
			if ok && typeName(selector.X) == "context" && selector.Sel.Name == "Context" {
				s.find(field.Pos(), t.Name.Name, "keeps a context: pass it as an argument")
			}
		}
	}
	return nil
}

// typeName returns the name at the root of a receiver's type: T of T, *T, T[K] and *T[K].
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

// nesting returns how deep the control statements of a function stand inside each other, function
// literals included.
func nesting(d *ast.FuncDecl) int {
	deepest, depth := 0, 0
	var open []int // what each node on the path from d added to depth
	follows := make(map[ast.Node]bool)
	ast.Inspect(d, func(n ast.Node) bool {
		if n == nil {
			depth -= open[len(open)-1]
			open = open[:len(open)-1]
			return true
		}
		step := 0
		switch v := n.(type) {
		case *ast.IfStmt:
			if v.Else != nil {
				follows[v.Else] = true
			}
			if !follows[n] {
				step = 1
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			step = 1
		}
		depth += step
		open = append(open, step)
		deepest = max(deepest, depth)
		return true
	})
	return deepest
}
