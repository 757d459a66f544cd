// Package docs holds the documentation that the executable carries, so that a site without a
// network has every page that a message or the README names.
//
// Pages are in one folder for each kind: tutorial, how-to, reference and explanation. The program
// shows them without these folders, so a page keeps its address when its kind changes.
package docs

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:generate cp ../config.example.toml .

// Files are the pages in Markdown, the examples that they link, and config.example.toml, a copy of
// the file at the top of the source tree. Paths are relative to docs.
//
//go:embed tutorial how-to reference explanation examples config.example.toml
var Files embed.FS

// Config is the path of the example configuration in Files.
const Config = "config.example.toml"

// Page is one page of the documentation.
type Page struct {
	File  string // path in Files, such as how-to/operations.md
	Title string // one line

	topic string // "" is Name
}

// Topic returns the name of the page for "labshelf help". It differs from Name where a command or a
// topic has that name.
func (p Page) Topic() string { return cmp.Or(p.topic, p.Name()) }

// Base returns the file name without the folder, such as operations.md.
func (p Page) Base() string { return path.Base(p.File) }

// Name returns the base name without its extension: the name of the page in the pages of the
// service.
func (p Page) Name() string {
	name, _, _ := strings.Cut(p.Base(), ".")
	return name
}

// Text returns the content of the page, with links as between pages in one folder.
func (p Page) Text() string {
	text, err := Files.ReadFile(p.File)
	if err != nil {
		panic(err) // the file is embedded
	}
	if p.File == Config {
		return string(text)
	}
	return folder.ReplaceAllString(string(text), "]($1")
}

// folder matches the start of a link from a page to a file of docs, or, with $1, of the source
// tree.
var folder = regexp.MustCompile(`\]\((?:\.\./(?:(?:tutorial|how-to|reference|explanation)/)?)(\.\./)?`)

// kind is a kind of pages, with the title of its part of the index.
type kind struct {
	title string
	pages []Page
}

// kinds returns all pages, in the order of the index.
func kinds() []kind {
	return []kind{
		{"Tutorials", []Page{
			{"tutorial/curl.md", "The interface in ten minutes, with curl", "tutorial"},
		}},
		{"How to", []Page{
			{"how-to/drive.md", "The network drive", ""},
			{"how-to/links.md", "Shares, file requests and invitations", "sharing"},
			{"how-to/csv.md", "Metadata as CSV", ""},
			{"how-to/instruments.md", "Properties from headers and sidecars of files", "headers"},
			{"how-to/open.md", "Open data: what everybody may read", ""},
			{"how-to/operations.md", "Backups, checks, monitoring and repair: the manual for operators", ""},
			{"how-to/cluster.md", "Two or more machines", ""},
		}},
		{"Reference", []Page{
			{"reference/commands.md", "Commands for every day, and for instruments", ""},
			{Config, "Every key of the configuration, with its default", "config"},
			{"reference/search.md", "The search: words, tags, quantities and contents", "searching"},
			{"reference/schemas.md", "Schemas: the properties that a dataspace asks for", ""},
			{"reference/events.md", "The stream of changes", ""},
			{"reference/webhooks.md", "Messages to other services", ""},
			{"reference/permissions.md", "Who may do what", ""},
			{"reference/errors.md", "The codes of errors", ""},
			{"reference/audit.md", "The log of all changes, and how to verify it", "audit-log"},
		}},
		{"Explanation", []Page{
			{"explanation/design.md", "How it is built", ""},
			{"explanation/decisions.md", "Why it is built that way", ""},
			{"explanation/reliability.md", "The guarantees, and how they are tested", ""},
			{"explanation/performance.md", "How fast it is, and how that is measured", ""},
		}},
	}
}

// Pages returns all pages, in the order of the index.
func Pages() []Page {
	var all []Page
	for _, k := range kinds() {
		all = append(all, k.pages...)
	}
	return all
}

// Index returns a page in Markdown that lists all pages, with links as between the pages.
func Index() string {
	var b strings.Builder
	b.WriteString("# Manual\n\nThese pages are part of the program and need no network. `labshelf help NAME` prints one, " +
		"`labshelf help config > config.toml` writes a configuration to edit.\n")
	for _, k := range kinds() {
		fmt.Fprintf(&b, "\n## %s\n\n", k.title)
		for _, p := range k.pages {
			fmt.Fprintf(&b, "- [%s](%s): %s\n", p.Topic(), p.Base(), p.Title)
		}
	}
	return b.String()
}

// Manual is the path of the index as a page.
const Manual = "manual.md"

// Published returns the paths that a service publishes below /docs/: Manual, the base names of the
// pages, and the examples.
func Published() []string {
	all := []string{Manual}
	for _, p := range Pages() {
		all = append(all, p.Base())
	}
	_ = fs.WalkDir(Files, "examples", func(path string, entry fs.DirEntry, _ error) error { // embedded folders can be read
		if !entry.IsDir() {
			all = append(all, path)
		}
		return nil
	})
	return all
}

// Read returns the content of a file that Published names.
func Read(path string) ([]byte, error) {
	if path == Manual {
		return []byte(Index()), nil
	}
	for _, p := range Pages() {
		if p.Base() == path {
			return []byte(p.Text()), nil
		}
	}
	return Files.ReadFile(path)
}
