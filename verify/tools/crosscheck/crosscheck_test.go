package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: a mistake is found on the system whose file has it, and on no other.
func TestCheck(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module a\n\ngo 1.26\n",
		"a.go":         "package a\n\nimport \"os\"\n\nvar name = separator + os.DevNull\n",
		"a_linux.go":   "package a\n\nconst separator = \"/\"\n",
		"a_windows.go": "package a\n\nconst separator = 92\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{"linux/arm64": "", "windows/amd64": "separator + os.DevNull", "darwin/arm64": "undefined: separator"} {
		wrong, err := check(root, system, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(wrong, "\n"); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
}

// TestVet: what go vet says of a test of another system is found; a mistake in its types, too.
func TestVet(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Logf(\"%d\", \"a\") }\n": "Logf format %d has arg",
		"package a\n\nvar a = b\n":                         "undefined: b",
		"package a\n\nimport _ \"testing\"\n\nvar a = 1\n": "",
	} {
		root := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module a\n\ngo 1.26\n", "a.go": "package a\n", "a_windows_test.go": text} {
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		wrong, err := check(root, "windows/amd64", true)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(wrong, "\n"); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
