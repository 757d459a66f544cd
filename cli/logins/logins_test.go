package logins_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"labshelf/cli/logins"
	_ "labshelf/internal/testhome"
)

// live sets the home directory of this process, and returns its configuration folder.
func live(t *testing.T, home string) string {
	t.Helper()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} { // each system uses one of these
		t.Setenv(name, home)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func stored(t *testing.T) logins.Logins {
	t.Helper()
	l, err := logins.Stored()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMovedHome: in a copy of a home directory, the copied logins are read and written, and the
// originals stay unchanged. The same applies to a file of an earlier version, which contains its
// own path.
func TestMovedHome(t *testing.T) {
	const service = "https://data.example.org/v1"
	for name, earlier := range map[string]bool{"copied": false, "of an earlier version": true} {
		t.Run(name, func(t *testing.T) {
			before, after := t.TempDir(), t.TempDir()
			dir := live(t, before)
			l := stored(t)
			l.Current, l.Services[service] = service, logins.Login{User: "ada", Key: "lsk_one"}
			if err := l.Save(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "labshelf", "logins.json")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if earlier {
				text = slices.Concat([]byte(`{"Path": "`+filepath.ToSlash(path)+`",`), text[1:])
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.CopyFS(after, os.DirFS(before)); err != nil {
				t.Fatal(err)
			}

			moved := filepath.Join(live(t, after), "labshelf", "logins.json")
			if err := os.Chmod(moved, 0o600); err != nil {
				t.Fatal(err)
			}
			l = stored(t)
			if l.Path != moved || l.Services[service].Key != "lsk_one" {
				t.Fatalf("read %+v from %s", l, moved)
			}
			delete(l.Services, service)
			if err := l.Save(); err != nil {
				t.Fatal(err)
			}
			if got := stored(t); len(got.Services) > 0 {
				t.Errorf("it still exists after it was removed: %v", slices.Collect(maps.Keys(got.Services)))
			}
			if kept, err := os.ReadFile(path); err != nil || string(kept) != string(text) {
				t.Errorf("the original has changed to %s, %v", kept, err)
			}
		})
	}
}
