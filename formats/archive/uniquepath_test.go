package archive_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"labshelf/formats/archive"
)

func TestClean(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 300)
	for name, want := range map[string]string{
		"a.txt": "a.txt", "run 1/raw data.csv": "run 1/raw data.csv", "Größe/日本語.txt": "Größe/日本語.txt", ".bashrc": ".bashrc",
		"../../etc/passwd": "etc/passwd", "/etc/passwd": "etc/passwd", "a/../b": "a/b", "a/./b//c/": "a/b/c", `..\..\x`: "x",
		`C:\Users\me\x.txt`: "C_/Users/me/x.txt", "c:x": "c_x", `\\server\share\x`: "server/share/x", "~/x": "~/x",
		"": "", "..": "", "/": "", "...": "", " . ": "", "a.": "a", "a. . ": "a", "dir./b ": "dir/b", "a/...": "a",
		`<a>:"b"|?*`: "_a___b____", "a\x00b\tc\nd\x7f": "a_b_c_d_", "a\u202egpj.exe": "a_gpj.exe", "a\u2028b": "a_b", "a\xffb": "a_b",
		"CON": "_CON", "con.txt": "_con.txt", "nul .tar.gz": "_nul .tar.gz", "Com1.log": "_Com1.log", "COM¹": "_COM¹", "LPT0": "_LPT0",
		"aux/x": "_aux/x", "conin$": "_conin$", "COM10": "COM10", "CONSOLE": "CONSOLE", "COM": "COM", "prn.": "_prn", "CON" + strings.Repeat(" ", 300) + "x": "_CON",
		long + ".txt": strings.Repeat("ä", 125) + ".txt", long: strings.Repeat("ä", 127),
		"a." + strings.Repeat("x", 300):                           "a." + strings.Repeat("x", 253),
		strings.Repeat("a/", 40) + "b":                            strings.Repeat("a/", 31) + "b",
		strings.Repeat(strings.Repeat("d", 200)+"/", 6) + "f.txt": strings.Repeat(strings.Repeat("d", 200)+"/", 4) + "f.txt",
	} {
		if got := archive.Clean(name); got != want {
			t.Errorf("Clean(%.60q) = %.80q (%d bytes), want %.80q (%d)", name, got, len(got), want, len(want))
		}
		safe(t, want)
	}
}

// safe checks that every system can use a path.
func safe(t *testing.T, p string) {
	t.Helper()
	if p == "" {
		return
	}
	if !utf8.ValidString(p) || len(p) > 960 || !filepath.IsLocal(p) || path.Clean(p) != p || strings.ContainsAny(p, "<>:\"|?*\\\x00\n\r") {
		t.Errorf("%q is not a safe path", p)
	}
	for element := range strings.SplitSeq(p, "/") {
		if len(element) > 255 || strings.TrimRight(element, ". ") != element || element == "" {
			t.Errorf("%q has the unsafe element %q", p, element)
		}
		base, _, _ := strings.Cut(strings.ToLower(element), ".")
		switch base = strings.TrimRight(base, " "); base {
		case "con", "prn", "aux", "nul", "com0", "com1", "com9", "lpt1", "com²", "lpt³", "conin$", "conout$":
			t.Errorf("%q has the reserved element %q", p, element)
		}
	}
	if again := archive.Clean(p); again != p {
		t.Errorf("Clean(%q) = %q", p, again)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		names []string // names of the resources 1, 2, …
		want  []string
	}{
		{"equal", []string{"a.txt", "a.txt", "a.txt"}, []string{"a.txt", "a (2).txt", "a (3).txt"}},
		{"case", []string{"Data/A.TXT", "data/a.txt"}, []string{"Data/A.TXT", "data/a (2).txt"}},
		{"folded", []string{"straße", "STRASSE", "ΣΑΣ", "σας"}, []string{"straße", "STRASSE (2)", "ΣΑΣ", "σας (4)"}},
		{"composed", []string{"é", "e\u0301", "E\u0301"}, []string{"é", "e\u0301 (2)", "E\u0301 (3)"}},
		{"equal after cleaning", []string{"a?", "a*", "../a_"}, []string{"a_", "a_ (2)", "a_ (3)"}},
		{"a file, then its folder", []string{"a", "a/b", "A/c/d"}, []string{"a", "a (2)/b", "A (3)/c/d"}},
		{"a folder, then its file", []string{"a/b.d/c", "a", "a/b.d"}, []string{"a/b.d/c", "a (2)", "a/b (3).d"}},
		{"the archive's own", []string{"manifest.json", "SHA256SUMS", "Manifest.JSON", "x/manifest.json", "sha256sums/x"},
			[]string{"manifest (1).json", "SHA256SUMS (2)", "Manifest (3).JSON", "x/manifest.json", "sha256sums (5)/x"}},
		{"empty after cleaning", []string{"..", "/", "1"}, []string{"1", "2", "1 (3)"}},
		{"like a path of the archive", []string{"a (3).txt", "a.txt", "a.txt"}, []string{"a (3).txt", "a.txt", "a (3 2).txt"}},
		{"no extension", []string{".bashrc", ".bashrc", "a.b/c", "a.b/c"}, []string{".bashrc", ".bashrc (2)", "a.b/c", "a.b/c (4)"}},
		{"long", []string{strings.Repeat("x", 255), strings.Repeat("x", 300)}, []string{strings.Repeat("x", 255), strings.Repeat("x", 251) + " (2)"}},
	} {
		paths := archive.NewPaths(archive.SumsName, archive.ManifestName)
		for i, name := range c.names {
			id := string(rune('1' + i))
			if got := paths.Give(id, name); got != c.want[i] {
				t.Errorf("%s: the path of %q is %q, want %q", c.what, name, got, c.want[i])
			}
			safe(t, c.want[i])
		}
	}
}

// FuzzPaths tests that for any names, each path is safe, and no two paths are the same file or
// contain each other.
func FuzzPaths(f *testing.F) {
	f.Add("a\na/b\nA\n../a\nCON\na (02)\na (02 2)")
	f.Add(strings.Repeat(strings.Repeat("d", 230)+"/", 4) + "f\n" + strings.Repeat("d", 230) + "\n" + strings.Repeat(strings.Repeat("D", 230)+"/", 4) + "f")
	f.Fuzz(func(t *testing.T, names string) {
		for _, list := range [][]string{strings.Split(names, "\n"), {names, names, strings.ToUpper(names), norm.NFD.String(names), names + "/x", names}} {
			paths := archive.NewPaths("manifest.json")
			seen := map[string]bool{"manifest.json": false} // value: whether the path is a folder
			for i, name := range list {
				safe(t, archive.Clean(name))
				given := paths.Give(strings.Repeat("0", 24)+string([]byte{byte('A' + i%26), byte('A' + i/26%26)}), name)
				safe(t, given)
				key := norm.NFD.String(cases.Fold().String(norm.NFD.String(given)))
				if _, taken := seen[key]; taken {
					t.Fatalf("%q, for %q, is not unique", given, name)
				}
				seen[key] = false
				for above := path.Dir(key); above != "."; above = path.Dir(above) {
					if folder, taken := seen[above]; taken && !folder {
						t.Fatalf("the path %q, for %q, is below a file", given, name)
					}
					seen[above] = true
				}
			}
		}
	})
}
