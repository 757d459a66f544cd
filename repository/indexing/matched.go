package indexing

import (
	"labshelf/search"
	"labshelf/search/query"
	"labshelf/search/words"
)

// The names of parts of a document that Matched returns.
const (
	InName        = "name"
	InTitle       = "title"
	InDescription = "description"
	InTags        = "tags"
	InKeywords    = "keywords"
	InCreators    = "creators"
	InProperties  = "properties"
	InPath        = "path" // names and titles of its dataspace and its set
	InText        = "text" // of the file
)

// Matched returns the names of the parts of a document that match a query, in the order of the
// constants, without duplicates. d has no text. path holds the names and titles of the dataspace
// and the set of the document. The result only tells people where to look.
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

// fields maps the fields of clauses without words to parts.
var fields = map[query.Field]string{query.Tag: InTags, query.Creator: InCreators, query.Property: InProperties}

// note adds the parts that match a clause. For words, these are all parts that contain them, or the
// text if no part does.
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

// part is a part of a document with the folded words of each of its texts.
type part struct {
	name  string
	texts [][]string
}

func partsOf(d search.Document, path []string) []part {
	var properties []string
	for _, p := range d.Properties {
		properties = append(properties, p.Path, p.Text)
	}
	return []part{
		newPart(InName, d.Name), newPart(InTitle, d.Title), newPart(InDescription, d.Description), newPart(InTags, d.Tags...),
		newPart(InKeywords, d.Keywords...), newPart(InCreators, d.Creators...), newPart(InPath, path...), newPart(InProperties, properties...),
	}
}

func newPart(name string, texts ...string) part {
	p := part{name, make([][]string, len(texts))}
	for i, text := range texts {
		for word := range words.Words(text) {
			p.texts[i] = append(p.texts[i], word.Text)
		}
	}
	return p
}

// holds reports whether one of the texts contains the words of a clause.
func (p part) holds(c query.Clause) bool {
	for _, text := range p.texts {
		for ; len(text) >= len(c.Words); text = text[1:] {
			if c.Quality(text[:len(c.Words)], p.name == InName) > 0 {
				return true
			}
		}
	}
	return false
}
