// Package searchtest implements the search of docs/reference/search.md by reading every document
// without an index, and generates random documents and queries. Tests compare an index with it.
package searchtest

import (
	"cmp"
	"slices"

	"labshelf/search"
	"labshelf/search/query"
	"labshelf/search/words"
)

// SI converts a value with a unit like units.SI: numbers have the dimension "1", and "" is not a
// unit.
type SI func(value float64, unit string) (si float64, dimension string, ok bool)

// Document is a document whose strings are split into words. Matching does not change it.
type Document struct {
	search.Document
	texts    []text // the fields that Any searches
	name     text
	creators []text
	values   [][]string // the words of each property's value
	si       SI
}

// text is one searched field of a document: its words, and the points for a match.
type text struct {
	words  []string
	weight int
	isName bool
}

// Weights of the fields.
const (
	nameWeight  = 4
	titleWeight = 3 // and tags, creators, keywords
	proseWeight = 2 // descriptions and properties
	bodyWeight  = 1
	outerWeight = 1 // names and titles of the containing dataspace and set
)

// Prepare prepares d for matching with any number of queries.
func Prepare(d search.Document, si SI) *Document {
	p := &Document{Document: d, name: text{split(d.Name), nameWeight, true}, si: si}
	add := func(weight int, texts ...string) {
		for _, t := range texts {
			p.texts = append(p.texts, text{split(t), weight, false})
		}
	}
	p.texts = append(p.texts, p.name)
	add(titleWeight, d.Title)
	add(titleWeight, d.Tags...)
	add(titleWeight, d.Keywords...)
	add(titleWeight, d.Creators...)
	add(proseWeight, d.Description)
	for _, property := range d.Properties {
		add(proseWeight, property.Path, property.Text)
		p.values = append(p.values, split(property.Text))
	}
	add(bodyWeight, d.Body)
	for _, creator := range d.Creators {
		p.creators = append(p.creators, text{split(creator), titleWeight, false})
	}
	return p
}

func split(s string) []string {
	var all []string
	for w := range words.Words(s) {
		all = append(all, w.Text)
	}
	return all
}

// Matches reports whether d matches q, and the relevance of d.
func Matches(q query.Query, d search.Document, si SI) (matched bool, score int) {
	return Prepare(d, si).Matches(q)
}

// Matches reports whether the document matches q, and its relevance. containers are the dataspace
// and the set that contain the document, as far as they are known.
func (d *Document) Matches(q query.Query, containers ...*Document) (matched bool, score int) {
	var outer []text
	for _, container := range containers {
		outer = append(outer, text{container.name.words, outerWeight, false}, text{split(container.Title), outerWeight, false})
	}
	for _, c := range q.Clauses {
		holds, points := d.holds(c)
		if c.Field == query.Any {
			points = max(points, best(outer, c))
			holds = points > 0
		}
		if holds == c.Not {
			return false, 0
		}
		if !c.Not {
			score += points
		}
	}
	return true, score
}

// holds reports whether the condition of c holds, ignoring Not, and its points.
func (d *Document) holds(c query.Clause) (bool, int) {
	isFile := d.Kind == search.Resource
	switch c.Field {
	case query.Any:
		points := best(d.texts, c)
		return points > 0, points
	case query.Name:
		points := best([]text{d.name}, c)
		return points > 0, points
	case query.Tag:
		return slices.ContainsFunc(d.Tags, func(tag string) bool { return c.IsText(words.Fold(tag)) }), 0
	case query.Type:
		return isFile && slices.Contains(d.Types(), c.Text), 0
	case query.OfKind:
		return d.Kind == c.Kind, 0
	case query.In:
		return slices.Contains(c.Within, d.Dataspace) || slices.Contains(c.Within, d.Set), 0
	case query.By:
		return c.IsText(words.Fold(d.Uploader)), 0
	case query.Creator:
		return slices.ContainsFunc(d.creators, func(t text) bool { return hasAll(t, c) }), 0
	case query.Size:
		return isFile && c.Span.Holds(d.Size), 0
	case query.Modified:
		return c.Span.Holds(int64(d.Stamp)), 0
	case query.Created:
		return c.Span.Holds(int64(d.Document.Created)), 0
	case query.Year:
		return d.Document.Year != 0 && c.Span.Holds(int64(d.Document.Year)), 0
	case query.Incomplete:
		return d.Document.Incomplete, 0
	case query.Property:
		return d.hasProperty(c), 0
	}
	return false, 0
}

// best returns the points of the best match of the clause's words in one of texts, or 0.
func best(texts []text, c query.Clause) int {
	points := 0
	for _, t := range texts {
		for start := 0; start+len(c.Words) <= len(t.words); start++ {
			found := t.words[start : start+len(c.Words)]
			points = max(points, t.weight*int(c.Quality(found, t.isName)))
		}
	}
	return points
}

// hasAll reports whether the text contains each word of the clause, in any order.
func hasAll(t text, c query.Clause) bool {
	for i := range c.Words {
		if best([]text{t}, c.Word(i)) == 0 {
			return false
		}
	}
	return true
}

// Compare orders hits by relevance: score, then stamp, both descending, then id ascending.
func Compare(a search.Document, scoreA int, b search.Document, scoreB int) int {
	return cmp.Or(cmp.Compare(scoreB, scoreA), cmp.Compare(b.Stamp, a.Stamp), slices.Compare(a.ID[:], b.ID[:]))
}
