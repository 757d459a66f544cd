package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestPackages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		folder    string
		of, tests int // files
		want      string
	}{
		{"a", maxFiles, 5, ""},
		{"a", maxFiles + 1, 0, "a|package: 26, limit 25"},
		{"a/b", maxFiles + 1, 5, "a/b|package: 26, limit 25"},
		{"a/atest", maxFiles + 1, 0, "a/atest|package: 26, limit 25"},
		{"verify/a", maxFiles + 1, 0, ""},
	}
	for _, tt := range tests {
		tree := make(fstest.MapFS)
		for i := range tt.of {
			tree[fmt.Sprintf("%s/f%d_windows.go", tt.folder, i)] = &fstest.MapFile{Data: []byte("package p\n")}
		}
		for i := range tt.tests {
			tree[fmt.Sprintf("%s/f%d_test.go", tt.folder, i)] = &fstest.MapFile{Data: []byte("package p\n")}
		}
		if got := findings(t, tree, ""); got != tt.want {
			t.Errorf("%d files and %d tests in %s: got %q, want %q", tt.of, tt.tests, tt.folder, got, tt.want)
		}
	}
}

// TestMethods tests that the methods in all files of a package are counted together, and that a
// method that each system defines is counted once.
func TestMethods(t *testing.T) {
	t.Parallel()
	tree := make(fstest.MapFS)
	for i := range maxMethods - 1 {
		tree[fmt.Sprintf("a/f%d.go", i%20)] = &fstest.MapFile{Data: fmt.Appendf(nil, "package a\n\nfunc (t *T) m%d() {}\nfunc (t T[K]) m%d() {}\n", i, i+1)}
		tree[fmt.Sprintf("a/more%d.go", i%4)] = &fstest.MapFile{Data: fmt.Appendf(nil, "package a\n\nfunc (t *U[K, V]) m%d() {}\n", i)}
	}
	for i := range maxMethods - 20 + 1 {
		tree[fmt.Sprintf("b/f%d.go", i%20)] = &fstest.MapFile{Data: fmt.Appendf(nil, "package b\n\nfunc (t *T) m%d() {}\nfunc (t T[K]) m%d() {}\n", i, i+20)}
	}
	for _, name := range []string{"b/g_unix.go", "b/g_windows.go"} {
		tree[name] = &fstest.MapFile{Data: []byte("package b\n\nfunc (t *T) g() {}\nfunc (t *T) h() {}\n")}
	}
	for exceptions, want := range map[string]string{
		"":                             "b|T: 42, limit 40",
		"# why\n\nb|T|at most 42: x\n": "",
		"b|T|at most 41: x\n":          "b|T: 42, limit 41",
		"b|T|at most 43: x\n":          "exception b|T: the count is now 42; lower its limit to 42",
	} {
		if got := findings(t, tree, exceptions); got != want {
			t.Errorf("with %q: got %q, want %q", exceptions, got, want)
		}
	}
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"a/b.go": {Data: []byte("package p\nfunc (t T) F() {}\n")}}
	for exceptions, want := range map[string]string{
		"a|T|at most 41: x\n":       "exception a|T has no effect: remove it",
		"a|U|at most 41: x\n":       "exception a|U has no effect: remove it",
		"c|package|at most 41: x\n": "exception c|package has no effect: remove it",
	} {
		if got := findings(t, tree, exceptions); got != want {
			t.Errorf("with %q: got %q, want %q", exceptions, got, want)
		}
	}
	if _, err := run(tree, "a|T|for no reason\n"); err == nil {
		t.Error("an exception without a ceiling was accepted")
	}
}

func findings(t *testing.T, tree fstest.MapFS, exceptions string) string {
	t.Helper()
	found, err := run(tree, exceptions)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, "\n")
}
