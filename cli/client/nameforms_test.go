package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"labshelf/client"
)

// TestNamesInOtherForms: every command finds a file and its folder by the composed and by the
// decomposed form of their names (macOS sends the latter), and keeps the stored form.
func TestNamesInOtherForms(t *testing.T) {
	t.Parallel()
	for what, form := range map[string]struct{ stored, asked norm.Form }{
		"stored composed": {norm.NFC, norm.NFD}, "stored decomposed": {norm.NFD, norm.NFC},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			set := s.newSet(t, "lab", "raw")
			s.newSet(t, "lab-two", "other")
			stored, asked := form.stored.String("M\u00fcller/Gr\u00fc\u00dfe \u00e9.txt"), form.asked.String("M\u00fcller/Gr\u00fc\u00dfe \u00e9.txt")
			folder, ref := form.asked.String("raw/M\u00fcller/"), "raw:"+asked
			kept := s.put(t, set.ID, stored, "old")
			s.put(t, set.ID, "other.txt", "x")

			do := func(want string, args ...string) string {
				t.Helper()
				got := s.run(t, "", args...)
				if got.error != nil || !strings.Contains(got.out, want) {
					t.Errorf("%q: %v, want %q", args, got, want)
				}
				return got.out
			}
			dir := t.TempDir()
			local := filepath.Join(dir, filepath.FromSlash(asked))
			write := func(text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(local), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(local, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			write("old")
			do("already there  1 file", "put", dir, "raw")
			write("new")
			do("replaced  1 file", "put", dir, "raw")
			write("newer")
			do("replaced  1 file", "put", local, "raw", "--name", asked)

			do("newer", "cat", ref)
			out := filepath.Join(t.TempDir(), "out")
			do("", "get", ref, "-o", out)
			if text, err := os.ReadFile(out); err != nil || string(text) != "newer" {
				t.Errorf("got %q, %v", text, err)
			}
			do("3", "versions", ref)
			do("", "describe", ref, "--set", "operator=Ada")
			do("Ada", "describe", ref)
			do(form.stored.String("Gr\u00fc\u00dfe \u00e9.txt"), "ls", folder)
			do("resource", "audit", "ls", ref)
			do("http", "link", "share", ref)
			do("http", "link", "share", folder)
			do("", "cp", ref, "copy.txt")
			do("", "cp", ref, "--to", "other")
			if now := must[client.Resource](t)(s.client.Resources.Get(t.Context(), kept.ID)); now.Name != stored || now.Version != 3 {
				t.Errorf("the record is %q in version %d", now.Name, now.Version)
			}

			do("Deleted", "rm", ref)
			do("", "restore", ref)
			do("Deleted 1 file", "folder", "rm", folder)
			do("", "restore", ref)
			do("Moved 1 file", "folder", "mv", folder, form.asked.String("raw/\u00dc/"))
			do("", "mv", "raw:"+form.stored.String("\u00dc/Gr\u00fc\u00dfe \u00e9.txt"), form.asked.String("\u00e9t\u00e9.txt"))
			do("Deleted", "rm", "raw:"+form.stored.String("\u00e9t\u00e9.txt"))
			if left := s.active(t, set.ID); len(left) != 2 || left[0].Name != "copy.txt" || left[1].Name != "other.txt" {
				t.Errorf("remaining: %v", left)
			}
		})
	}
}

// TestNamesInBothForms: if both forms exist, each command uses the given one, and put replaces only
// that one.
func TestNamesInBothForms(t *testing.T) {
	t.Parallel()
	const composed, decomposed, third = "\u1e69.txt", "s\u0323\u0307.txt", "s\u0307\u0323.txt"
	s := start(t)
	set := s.newSet(t, "lab", "raw")
	for _, name := range []string{composed, decomposed} {
		s.put(t, set.ID, name, name)
		if got := s.run(t, "", "cat", "raw:"+name); got.error != nil || got.out != name {
			t.Errorf("cat %+q: %v", name, got)
		}
	}
	if got := s.run(t, "", "rm", "raw:"+third); got.error == nil {
		t.Errorf("rm of a third form: %v", got)
	}
	if got := s.run(t, "", "rm", "raw:"+decomposed); got.error != nil {
		t.Error(got)
	}
	if left := s.active(t, set.ID); len(left) != 1 || left[0].Name != composed {
		t.Errorf("remaining: %v", left)
	}
	if got := s.run(t, "", "cat", "raw:"+third); got.error != nil || got.out != composed {
		t.Errorf("the only remaining form: %v", got)
	}
}
