package docs

import (
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

// TestEveryFileIsAPage expects that the index names each Markdown file of docs once.
func TestEveryFileIsAPage(t *testing.T) {
	t.Parallel()
	entries, err := Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var files, pages []string
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, e.Name())
		}
	}
	for _, p := range Pages() {
		pages = append(pages, p.File)
		if len(p.Text()) < 200 || p.Title == "" {
			t.Errorf("%s has %d bytes and the title %q", p.File, len(p.Text()), p.Title)
		}
	}
	slices.Sort(pages)
	if !slices.Equal(files, pages) {
		t.Errorf("the files are\n%v, the pages\n%v", files, pages)
	}
}

// elsewhere are the files of the source tree that pages link and the executable lacks, and those
// that it has at another address.
var elsewhere = []string{"../CHANGELOG.md", "../" + Config, "../handlers/openapi.yaml"}

// TestLinksLeadSomewhere expects that each relative link leads to an embedded file, and its
// fragment to a heading there.
func TestLinksLeadSomewhere(t *testing.T) {
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
