package docs

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestConfigIsACopy compares the embedded configuration with the file at the top of the source
// tree.
func TestConfigIsACopy(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../" + Config)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read(Config); err != nil || string(got) != string(want) {
		t.Errorf("docs/%s differs from ../%s: run go generate ./docs (%v)", Config, Config, err)
	}
}

// TestEveryFileIsAPage tests that the index names each Markdown file of docs once, and that no two
// files have the same base name.
func TestEveryFileIsAPage(t *testing.T) {
	t.Parallel()
	files := []string{Config}
	for _, pattern := range []string{"*/*.md", "*.md"} {
		found, err := fs.Glob(Files, pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var pages []string
	names := map[string]bool{}
	for _, p := range Pages() {
		pages = append(pages, p.File)
		if names[p.Name()] {
			t.Errorf("two pages are called %s", p.Name())
		}
		names[p.Name()] = true
		if len(p.Text()) < 200 || p.Title == "" {
			t.Errorf("%s has %d bytes and the title %q", p.File, len(p.Text()), p.Title)
		}
	}
	slices.Sort(pages)
	slices.Sort(files)
	if !slices.Equal(files, pages) {
		t.Errorf("the files are\n%v, the pages\n%v", files, pages)
	}
}

// elsewhere are the files of the source tree that pages link but the executable lacks, and the
// files that it has under another path.
var elsewhere = []string{"../CHANGELOG.md", "../" + Config, "../handlers/openapi.yaml"}

// TestFileLinks tests that each relative link of a page leads to a file of the source tree.
func TestFileLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s:#]+)(?:#[^)]*)?\)`)
	for _, p := range Pages() {
		text, err := Files.ReadFile(p.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(path.Join(path.Dir(p.File), m[1])); path.Ext(p.File) == ".md" && err != nil {
				t.Errorf("%s links %s: %v", p.File, m[1], err)
			}
		}
	}
}

// TestRelativeLinks tests that each relative link leads to an embedded file, and its fragment
// to a heading in it.
func TestRelativeLinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s:]+)\)`)
	heading := regexp.MustCompile(`(?m)^#{1,4} (.*)$`)
	others := regexp.MustCompile(`[^a-z0-9]+`)
	count := 0
	for _, name := range Published() {
		if path.Ext(name) != ".md" {
			continue
		}
		text, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			count++
			to, fragment, _ := strings.Cut(m[1], "#")
			if to == "" {
				to = name
			}
			if slices.Contains(elsewhere, to) {
				continue
			}
			target, err := Read(to)
			if err != nil {
				t.Errorf("%s links %s: %v", name, m[1], err)
				continue
			}
			found := fragment == ""
			for _, h := range heading.FindAllStringSubmatch(string(target), -1) {
				found = found || strings.Trim(others.ReplaceAllString(strings.ToLower(h[1]), "-"), "-") == fragment
			}
			if !found {
				t.Errorf("%s links %s: no heading has this name", name, m[1])
			}
		}
	}
	if count < 50 {
		t.Errorf("found %d links", count)
	}
}
