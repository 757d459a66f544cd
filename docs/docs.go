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
			{"tutorial/terminal.md", "A first session in the terminal", ""},
			{"tutorial/curl.md", "A first session with curl", "tutorial"},
		}},
		{"How to", []Page{
			{"how-to/operations.md", "Install, upgrade, check and clean up a service", ""},
			{"how-to/backups.md", "Back up and restore", ""},
			{"how-to/recovery.md", "Fix a damaged service", ""},
			{"how-to/monitoring.md", "Monitor a service, and find out why it is slow", ""},
			{"how-to/cluster.md", "Set up two or more machines", ""},
			{"how-to/drive.md", "Mount the network drive", ""},
			{"how-to/limited-keys.md", "Give a program or an instrument a key", "keys"},
			{"how-to/instrument-pc.md", "Send files from an instrument computer", ""},
			{"how-to/links.md", "Links for people without an account", "sharing"},
			{"how-to/open.md", "Publish open data", ""},
			{"how-to/schemas.md", "Define properties with a schema", ""},
			{"how-to/csv.md", "Edit metadata in a spreadsheet", ""},
			{"how-to/instruments.md", "Fill properties from headers and sidecars", "headers"},
			{"how-to/webhooks.md", "Send messages to other services", ""},
			{"how-to/audit.md", "Verify the audit log", "audit-log"},
		}},
		{"Reference", []Page{
			{"reference/commands.md", "All commands, names, exit codes", ""},
			{Config, "Every key of the configuration, with its default", "config"},
			{"reference/search.md", "The search language", "searching"},
			{"reference/permissions.md", "Permissions by request and role", ""},
			{"reference/errors.md", "Error codes", ""},
			{"reference/events.md", "The stream of changes", ""},
			{"reference/webhook-messages.md", "Webhook messages and retries", ""},
			{"reference/link-rules.md", "Rights, limits and expiry of links", ""},
			{"reference/anonymous.md", "Reading without a key", ""},
			{"reference/drive-requests.md", "Paths, requests and limits of the drive", ""},
			{"reference/schema-language.md", "Forms, keywords and limits of schemas", ""},
			{"reference/csv-format.md", "Columns and cells of the CSV format", ""},
			{"reference/file-headers.md", "Properties of each file format, and limits", ""},
			{"reference/audit-format.md", "The format of the audit log", ""},
			{"reference/data-directory.md", "Files, space, quotas and budgets", ""},
			{"reference/cluster-behavior.md", "Engines, failures and routine tasks of a cluster", ""},
			{"reference/keys.md", "Keys of the metadata", ""},
			{"reference/glossary.md", "Glossary", ""},
			{"reference/long-runs.md", "Tests with larger sizes", ""},
			{"reference/fault-tests.md", "Fault tests and their results", ""},
			{"reference/measurements.md", "Measurements on one machine", ""},
			{"reference/measurements-scale.md", "Measurements of scale and clusters", ""},
			{"reference/measurements-parts.md", "Measurements of parts", ""},
		}},
		{"Explanation", []Page{
			{"explanation/design.md", "How labshelf is built", ""},
			{"explanation/data-paths.md", "The path of data through the code", ""},
			{"explanation/nodes.md", "How nodes share a repository", ""},
			{"explanation/reliability.md", "The guarantees, and how they are tested", ""},
			{"explanation/performance.md", "How fast it is, and why", ""},
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
