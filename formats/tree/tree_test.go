package tree_test

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"labshelf/formats/tree"
)

// file is a file of a test.
type file struct{ id, name string }

func (f file) Named() (id, name string) { return f.id, f.name }

// set is a set in memory, sorted by name, then id. reads counts the files that listings read.
type set struct {
	files   []file
	folders []string
	reads   int
}

func (s *set) Files(prefix string, after tree.Position) iter.Seq2[file, error] {
	return func(yield func(file, error) bool) {
		at, _ := slices.BinarySearchFunc(s.files, max(prefix, after.Name), func(f file, name string) int { return strings.Compare(f.name, name) })
		for _, f := range s.files[at:] {
			if f.name == after.Name && f.id <= after.ID {
				continue
			}
			if s.reads++; !strings.HasPrefix(f.name, prefix) || !yield(f, nil) {
				return
			}
		}
	}
}

func (s *set) ByID(id string) (file, bool, error) {
	for _, f := range s.files {
		if f.id == id {
			return f, true, nil
		}
	}
	return file{}, false, nil
}

func (s *set) Any(folder string) (bool, error) {
	begins := func(path string) bool { return strings.HasPrefix(path, folder) }
	return slices.ContainsFunc(s.files, func(f file) bool { return begins(f.name) }) || slices.ContainsFunc(s.folders, begins), nil
}

func (s *set) Folders(from string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, folder := range s.folders {
			if folder >= from && !yield(folder, nil) {
				return
			}
		}
	}
}

func newSet(names, folders []string) *set {
	s := &set{folders: slices.Compact(slices.Sorted(slices.Values(folders)))}
	for i, name := range names {
		s.files = append(s.files, file{id(i), name})
	}
	slices.SortFunc(s.files, func(a, b file) int { return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.id, b.id)) })
	return s
}

func id(n int) string { return fmt.Sprintf("01HZ%022d", n) }

// walk lists everything below a folder, in pages of a size, or in one page if page is 0.
func walk(t fatal, s *set, folder string, page int) (files map[string]string, folders []string) {
	files = map[string]string{}
	for after, more := (tree.Position{}), true; more; {
		more = false
		n := 0
		for node, err := range tree.Children(s, folder, after) {
			if err != nil {
				t.Fatal(err)
			}
			path := folder + node.Element
			if _, known := files[path]; known || slices.Contains(folders, path+"/") {
				t.Fatalf("%q is listed twice", path)
			}
			if node.File != nil {
				files[path] = node.File.id
			} else {
				folders = append(folders, node.Folder)
			}
			after = node.Next()
			if n++; n == page {
				more = true
				break
			}
		}
	}
	for _, below := range slices.Clone(folders) {
		inner, deeper := walk(t, s, below, page)
		for path, id := range inner {
			files[path] = id
		}
		folders = append(folders, deeper...)
	}
	return files, folders
}

type fatal interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// reference computes the paths of all files by comparing each file with every other file.
func reference(s *set) (paths map[string]string, folders []string) {
	in := func(name string) (folder, rest string, plain bool) {
		parts := strings.Split(name, "/")
		for i, part := range parts {
			last := i == len(parts)-1
			bad := part == "" || part == "." || part == ".." || len(part) > 255 || strings.ContainsAny(part, "\\\x01")
			if !bad && !last && like(part) {
				bad = true
			}
			if bad || last {
				return folder, strings.Join(parts[i:], "/"), !bad
			}
			folder += part + "/"
		}
		return "", "", false
	}
	known := map[string]bool{}
	add := func(folder string) {
		for i := range folder {
			if folder[i] == '/' {
				known[folder[:i+1]] = true
			}
		}
	}
	for _, f := range s.files {
		folder, _, _ := in(f.name)
		add(folder)
	}
	for _, folder := range s.folders {
		add(folder)
	}
	meant := map[string]bool{}
	for _, f := range s.files {
		folder, rest, _ := in(f.name)
		meant[folder+tree.WithID(rest, f.id)] = true
	}
	paths = map[string]string{}
	for _, f := range s.files {
		folder, rest, plain := in(f.name)
		older := slices.ContainsFunc(s.files, func(o file) bool { return o.name == f.name && o.id < f.id })
		if path := folder + rest; plain && !older && !known[path+"/"] && !meant[path] {
			paths[path] = f.id
		} else {
			paths[folder+tree.WithID(rest, f.id)] = f.id
		}
	}
	for folder := range known {
		folders = append(folders, folder)
	}
	return paths, folders
}

// like reports whether an element has the form of an element with an id. It uses another method
// than the package.
func like(element string) bool {
	for n := range 40 {
		for _, extension := range []string{"", ".a", ".txt"} {
			if strings.HasSuffix(element, " ("+id(n)+")"+extension) {
				return true
			}
		}
	}
	return false
}

// TestTreeAgainstReference tests that with random names, each file has one path. Listings contain
// the path once, whatever the page size, and path → id → path is the identity.
func TestTreeAgainstReference(t *testing.T) {
	t.Parallel()
	elements := []string{"a", "a", "b", "A", "a.txt", "a.txt", "a!", "a0", ".", "..", "", "b\\c", "x\x01", "é", strings.Repeat("é", 127) + "a", strings.Repeat("n", 256)}
	for n := range 8 {
		elements = append(elements, "a ("+id(n)+")", "a ("+id(n)+").txt")
	}
	element := rapid.SampledFrom(elements)
	name := rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(element, 1, 3).Draw(rt, "elements"), "/")
	})
	folder := rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "a.txt", "é"}), 1, 3).Draw(rt, "folder"), "/") + "/"
	})
	rapid.Check(t, func(rt *rapid.T) {
		s := newSet(rapid.SliceOfN(name, 0, 12).Draw(rt, "names"), rapid.SliceOfN(folder, 0, 3).Draw(rt, "folders"))
		paths, folders := reference(s)
		listed, found := walk(rt, s, "", rapid.IntRange(0, 3).Draw(rt, "page"))
		if len(paths) != len(s.files) || fmt.Sprint(paths) != fmt.Sprint(listed) {
			rt.Fatalf("the listing has\n%q, want\n%q", listed, paths)
		}
		if slices.Sort(folders); !slices.Equal(folders, slices.Sorted(slices.Values(found))) {
			rt.Fatalf("the folders %q, want %q", found, folders)
		}
		for _, f := range s.files {
			path, err := tree.Path(s, f)
			node, ok, failed := tree.Lookup(s, path)
			if err != nil || failed != nil || !ok || node.File == nil || node.File.id != f.id || paths[path] != f.id {
				rt.Fatalf("%v has the path %q, which is %v", f, path, node)
			}
			above, rest, _ := tree.Split(f.name)
			if node, ok, _ = tree.Lookup(s, above+tree.WithID(rest, f.id)); !ok || node.File == nil || node.File.id != f.id {
				rt.Fatalf("%v is not found by its id: %v", f, node)
			}
		}
		for _, folder := range folders {
			if node, ok, err := tree.Lookup(s, strings.TrimSuffix(folder, "/")); !ok || err != nil || node.File != nil || node.Folder != folder {
				rt.Fatalf("the folder %q is %v, %v", folder, node, err)
			}
		}
	})
}

// TestPaths tests that names become paths as docs/how-to/drive.md describes.
func TestPaths(t *testing.T) {
	t.Parallel()
	of := func(element string) string { return strings.ReplaceAll(element, "ID", id(0)) }
	for name, want := range map[string]string{
		"a.txt": "a.txt", "a/b/c.txt": "a/b/c.txt", "a//b.txt": "a/_b (ID).txt", "/a.txt": "_a (ID).txt", "a/": "a/_ (ID)", "./a": "._a (ID)",
		"../../etc/passwd": ".._. (ID)._etc_passwd", "a/..": "a/.. (ID)", `dir\file.csv`: "dir_file (ID).csv", "a/x\\y/z.tif": "a/x_y_z (ID).tif",
		".profile": ".profile", "/.profile": "_ (ID).profile", "a ": "a ", "no extension/": "no extension/_ (ID)", "CON": "CON", "a:b*?.txt": "a:b*?.txt",
		strings.Repeat("é", 128): strings.Repeat("é", 113) + " (ID)", "b (" + id(9) + ")/c": "b (" + id(9) + ")_c (ID)",
	} {
		s := newSet([]string{name}, nil)
		if path, err := tree.Path(s, s.files[0]); path != of(want) || err != nil {
			t.Errorf("%q has the path %q, %v, want %q", name, path, err, of(want))
		}
	}
	for _, path := range []string{"/", "a//b", "a/", "./a", "a/..", `a\b`, "b"} {
		s := newSet([]string{"a/c", "a//b", `a\b`, "./a"}, nil)
		if node, found, err := tree.Lookup(s, path); found || err != nil {
			t.Errorf("%q is %v, %v", path, node, err)
		}
	}
}

// TestListingReadsChildren tests that the cost of listing a folder depends on its children, not on
// the files below them.
func TestListingReadsChildren(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 20_000 {
		names = append(names, "deep/"+strconv.Itoa(n%10)+"/"+strconv.Itoa(n))
	}
	s := newSet(append(names, "a", "deep/x", "z"), []string{"deep/empty/"})
	for folder, want := range map[string]int{"": 3, "deep/": 12} {
		s.reads = 0
		n := 0
		for _, err := range tree.Children(s, folder, tree.Position{}) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != want || s.reads > 3*want {
			t.Errorf("%q has %d children, want %d; %d files were read", folder, n, want, s.reads)
		}
	}
}

// TestErrors tests that a read error is returned, and never truncates a listing silently.
func TestErrors(t *testing.T) {
	t.Parallel()
	broken := &failing{set: newSet([]string{"a", "b/c", "b/d"}, nil)}
	for _, err := range tree.Children(broken, "", tree.Position{}) {
		if err != nil {
			return
		}
	}
	t.Error("no error was returned")
}

// failing yields one file, then an error.
type failing struct{ *set }

func (s *failing) Files(prefix string, after tree.Position) iter.Seq2[file, error] {
	return func(yield func(file, error) bool) {
		for f, err := range s.set.Files(prefix, after) {
			if yield(f, err) {
				yield(file{}, os.ErrInvalid)
			}
			return
		}
	}
}
