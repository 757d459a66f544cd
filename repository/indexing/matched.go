package indexing

import (
	"strings"

	"labshelf/search"
	"labshelf/search/query"
	"labshelf/search/words"
)

// The parts of a document that Matched names.
const (
	InName        = "name"
	InTitle       = "title"
	InDescription = "description"
	InTags        = "tags"
	InKeywords    = "keywords"
	InCreators    = "creators"
	InProperties  = "properties"
	InPath        = "path" // names and titles of the dataspace and the set that hold it
	InText        = "text" // of the file
)

// Matched names the parts of a document, without its text, that a query has found it by: in the order of the constants, each once. path are
// names and titles of the dataspace and the set that hold it. It says where to look, and decides nothing.
func Matched(q query.Query, d search.Document, path ...string) []string {
	parts := partsOf(d, path)
	found := map[string]bool{}
	for _, c := range q.Clauses {
		if !c.Not {
			note(found, c, parts)
		}
	}
	matched := []string{}
	for _, name := range []string{InName, InTitle, InDescription, InTags, InKeywords, InCreators, InProperties, InPath, InText} {
		if found[name] {
			matched = append(matched, name)
		}
	}
	return matched
}

// fields are the parts that clauses other than words speak of.
var fields = map[query.Field]string{query.Tag: InTags, query.Creator: InCreators, query.Property: InProperties}

// note adds the parts by which a clause holds: of words all that hold them, or where none does the text.
func note(found map[string]bool, c query.Clause, parts []part) {
	if name, ok := fields[c.Field]; ok {
		found[name] = true
	}
	if c.Field != query.Name && c.Field != query.Any {
		return
	}
	somewhere := false
	for _, p := range parts {
		if (c.Field == query.Any || p.name == InName) && p.holds(c) {
			found[p.name], somewhere = true, true
		}
	}
	if !somewhere && c.Field == query.Any {
		found[InText] = true
	}
}

// part is a part of a document: its texts, each as folded words with a space before and behind each.
type part struct {
	name  string
	texts []string
}

func partsOf(d search.Document, path []string) []part {
	parts := []part{
		{InName, []string{d.Name}}, {InTitle, []string{d.Title}}, {InDescription, []string{d.Description}},
		{InTags, d.Tags}, {InKeywords, d.Keywords}, {InCreators, d.Creators}, {InPath, path},
	}
	var properties []string
	for _, p := range d.Properties {
		properties = append(properties, p.Path, p.Text)
	}
	parts = append(parts, part{InProperties, properties})
	for i, p := range parts {
		folded := make([]string, len(p.texts))
		for j, text := range p.texts {
			folded[j] = spaced(text)
		}
		parts[i].texts = folded
	}
	return parts
}

// spaced returns the folded words of a text with a space before and behind each.
func spaced(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for word := range words.Words(text) {
		b.WriteString(word.Text)
		b.WriteByte(' ')
	}
	return b.String()
}

// holds tells whether one of the texts holds the words of a clause.
func (p part) holds(c query.Clause) bool {
	wanted := strings.Join(c.Words, " ")
	switch {
	case c.Whole:
		wanted = " " + wanted + " "
	case p.name != InName:
		wanted = " " + wanted
	}
	for _, text := range p.texts {
		if strings.Contains(text, wanted) {
			return true
		}
	}
	return false
}
