package client

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"labshelf/cli/connection"
)

// TestCommandsUseSafeWriter: commands print with package display, so that text from a server cannot
// control the terminal.
func TestCommandsUseSafeWriter(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	raw := regexp.MustCompile(`fmt\.Fprint(f|ln)\(p\.(Out|Err)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := raw.Find(text); found != nil {
			t.Errorf("%s: %s: use display.Fprintf or display.Fprintln", file, found)
		}
	}
}

func TestUnencrypted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"http://127.0.0.1:8080/v1": false, "http://localhost/v1": false, "http://[::1]:8080/v1": false, "https://data.example.org/v1": false,
		"http://data.example.org/v1": true, "http://192.168.1.5:8080/v1": true,
	} {
		if got := connection.Unencrypted(text) != ""; got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}
