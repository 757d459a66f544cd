// Package docs holds the documentation that the executable carries, so that a site without a
// network has every page that a message or the README names.
package docs

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:generate cp ../config.example.toml .

// Files are the pages in Markdown, the examples that they link, and config.example.toml, a copy of
// the file at the top of the source tree. Paths are relative to docs.
//
//go:embed *.md examples config.example.toml
var Files embed.FS

// Config is the path of the example configuration in Files.
const Config = "config.example.toml"

// Page is one page of the documentation.
type Page struct {
	File  string // in Files, such as operations.md
	Title string // one line

	topic string // "" is Name
}

// Topic returns the name of the page for "labshelf help". It differs from Name where a command or a
// topic has that name.
func (p Page) Topic() string { return cmp.Or(p.topic, p.Name()) }

// Name returns the file name without its extension: the name of the page in the pages of the
// service.
func (p Page) Name() string {
	name, _, _ := strings.Cut(p.File, ".")
	return name
}

// Text returns the content of the page.
func (p Page) Text() string {
	text, err := Files.ReadFile(p.File)
	if err != nil {
		panic(err) // the file is embedded
	}
	return string(text)
}

// Pages returns all pages, in the order of the index.
func Pages() []Page {
	return []Page{
		{"tutorial.md", "The interface in ten minutes, with curl", ""},
		{"commands.md", "Commands for every day, and for instruments", ""},
		{"drive.md", "The network drive", ""},
		{"links.md", "Shares, file requests and invitations", "sharing"},
		{"search.md", "The search: words, tags, quantities and contents", "searching"},
		{"schemas.md", "Schemas: the properties that a dataspace asks for", ""},
		{"csv.md", "Metadata as CSV", ""},
		{"instruments.md", "Properties from headers and sidecars of files", "headers"},
		{"open.md", "Open data: what everybody may read", ""},
		{"events.md", "The stream of changes", ""},
		{"webhooks.md", "Messages to other services", ""},
		{"permissions.md", "Who may do what", ""},
		{"errors.md", "The codes of errors", ""},
		{"operations.md", "Backups, checks, monitoring and repair: the manual for operators", ""},
		{Config, "Every key of the configuration, with its default", "config"},
		{"cluster.md", "Two or more machines", ""},
		{"audit.md", "The log of all changes, and how to verify it", "audit-log"},
		{"reliability.md", "The guarantees, and how they are tested", ""},
		{"performance.md", "How fast it is, and how that is measured", ""},
		{"design.md", "How it is built", ""},
		{"decisions.md", "Why it is built that way", ""},
	}
}

// Index returns a page in Markdown that lists all pages, with links as between the pages.
func Index() string {
	var b strings.Builder
	b.WriteString("# Manual\n\nThese pages are part of the program and need no network. `labshelf help NAME` prints one, " +
		"`labshelf help config > config.toml` writes a configuration to edit.\n\n")
	for _, p := range Pages() {
		fmt.Fprintf(&b, "- [%s](%s): %s\n", p.Topic(), p.File, p.Title)
	}
	return b.String()
}

// Manual is the path of the index as a page.
const Manual = "manual.md"

// Published returns what a service publishes below /docs/: the paths of Files, and Manual.
func Published() []string {
	all := []string{Manual}
	_ = fs.WalkDir(Files, ".", func(path string, entry fs.DirEntry, _ error) error { // embedded folders can be read
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
	return Files.ReadFile(path)
}
