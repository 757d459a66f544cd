package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// search collects the findings of all files.
type search struct {
	list
	findings []string
}

// kind is the kind of text in which words are searched.
type kind int

const (
	names kind = iota
	text
)

// file searches one file of the tree, if it is a source or documentation written by hand.
func (s *search) file(root fs.FS, name string) error {
	base := path.Base(name)
	source := slices.Contains([]string{".go", ".ts", ".tsx"}, path.Ext(base))
	// The changelog describes the past and keeps its words.
	prose := path.Ext(base) == ".md" && base != "CHANGELOG.md" || base == "openapi.yaml" || base == "config.example.toml"
	if !source && !prose {
		return nil
	}
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	content := string(data)
	switch {
	case prose:
		s.words(name, 1, content, text)
	case path.Ext(base) == ".go":
		return s.goSource(name, content)
	default:
		s.script(name, content)
	}
	s.fileName(name)
	return nil
}

func (s *search) fileName(name string) {
	s.words(name, 1, strings.TrimSuffix(path.Base(name), path.Ext(name)), names)
}

func (s *search) goSource(name, content string) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	s.fileName(name)
	line := func(n ast.Node) int { return fset.Position(n.Pos()).Line }
	for _, group := range file.Comments {
		s.words(name, line(group), content[fset.Position(group.Pos()).Offset:fset.Position(group.End()).Offset], text)
	}
	foreign := make(map[ast.Node]bool) // names that may be declared elsewhere
	ast.Inspect(file, func(n ast.Node) bool {
		switch v := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.SelectorExpr:
			foreign[v.Sel] = true
		case *ast.KeyValueExpr:
			foreign[v.Key] = true
		case *ast.Ident:
			if !foreign[v] {
				s.words(name, line(v), v.Name, names)
			}
		case *ast.BasicLit:
			if v.Kind == token.STRING {
				s.words(name, line(v), unquoted(v.Value), text)
			}
		}
		return true
	})
	return nil
}

// unquoted returns the value of a literal, with as many line ends as in the source.
func unquoted(literal string) string {
	if strings.HasPrefix(literal, "`") {
		return literal
	}
	value, _ := strconv.Unquote(literal) // the parser has accepted it
	return strings.ReplaceAll(value, "\n", " ")
}

// textOf matches comments and strings in TypeScript.
var textOf = regexp.MustCompile("//[^\n]*|(?s:/\\*.*?\\*/)|'(?:[^'\\\\\n]|\\\\.)*'|\"(?:[^\"\\\\\n]|\\\\.)*\"|`(?:[^`\\\\]|\\\\.)*`")

// script searches TypeScript. Comments and strings are text. The rest is searched as both text and
// names, because the sentences of a page are mixed with names.
func (s *search) script(name, content string) {
	s.words(name, 1, content, text)
	rest := textOf.ReplaceAllStringFunc(content, func(part string) string { return strings.Repeat("\n", strings.Count(part, "\n")) })
	s.words(name, 1, rest, names)
}

// acronym matches the end of an acronym and the beginning of a word in camel case.
var acronym = regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll})`)

// word matches one word, which ends where a new one begins in camel case, or a character that ends
// a phrase.
var word = regexp.MustCompile(`\n|\p{Lu}?\p{Ll}+|\p{Lu}+|[.,:;!?(){}\[\]"'<>=|]`)

// begins reports whether a word is the first one of a sentence, or of a part after a colon or
// semicolon.
func begins(all []string, i int) bool {
	return i == 0 || strings.Contains(".:;!?", all[i-1])
}

// words searches a part of a file that begins on the given line.
func (s *search) words(name string, line int, content string, of kind) {
	var all []string
	var lines []int
	for _, w := range word.FindAllString(acronym.ReplaceAllString(content, "$1 $2"), -1) {
		if w == "\n" {
			line++
			continue
		}
		all, lines = append(all, strings.ToLower(w)), append(lines, line)
	}
	for i, w := range all {
		for _, p := range s.starts[w] {
			if (of == names && p.names || of == text && p.text) && len(p.words) <= len(all)-i && (!p.begins || begins(all, i)) &&
				slices.Equal(p.words, all[i:i+len(p.words)]) && !s.excused(p.form, name) {
				s.findings = append(s.findings, fmt.Sprintf("%s:%d: %s: write %s", name, lines[i], strings.Join(p.words, " "), p.instead))
			}
		}
	}
}
