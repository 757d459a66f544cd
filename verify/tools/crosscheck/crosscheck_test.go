package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck tests that an error is found only on the system that compiles its file.
func TestCheck(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module a\n\ngo 1.26\n",
		"a.go":         "package a\n\nimport \"unicode/utf8\"\n\nvar name = separator + string(utf8.RuneError)\n",
		"a_linux.go":   "package a\n\nconst separator = \"/\"\n",
		"a_windows.go": "package a\n\nconst separator = 92\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{"linux/arm64": "", "windows/amd64": "separator + string(utf8.RuneError)", "darwin/arm64": "undefined: separator"} {
		wrong, err := check(root, system, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(wrong, "\n"); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
}

// TestVet tests that findings of go vet and type errors are found in a test of another system. A
// correct test has no finding.
func TestVet(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"vet":   {"package b\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) { t.Logf(\"%d\", \"b\") }\n", "Logf format %d has arg"},
		"types": {"package b\n\nvar a = b\n", "undefined: b"},
	} {
		root := t.TempDir()
		for name, text := range map[string]string{
			"go.mod": "module a\n\ngo 1.26\n", "a.go": "package a\n", "a_windows_test.go": "package a\n\nimport _ \"testing\"\n\nvar a = 1\n",
			"b/b.go": "package b\n", "b/b_windows_test.go": tt.text,
		} {
			if err := os.MkdirAll(filepath.Join(root, "b"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		wrong, err := check(root, "windows/amd64", true)
		if err != nil {
			t.Fatal(err)
		}
		if len(wrong) != 1 || !strings.Contains(wrong[0], tt.want) {
			t.Errorf("%s: %q, want %q", name, wrong, tt.want)
		}
	}
}
