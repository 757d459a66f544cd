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
		wrong, err := check(root, system)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(wrong, "\n"); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
}
