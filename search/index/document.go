package index

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"labshelf/formats/descriptive/units"
	"labshelf/search"
	"labshelf/search/words"
)

// row contains the column values of one document. Its texts are folded, except those shown in
// counts.
type row struct {
	id, set              [16]byte
	flags                uint64 // the kind, and incompleteFlag
	stamp, created, size uint64
	year                 uint64
	name                 string
	types                string // by newlines
	uploader             string
	tags, creators       []label
}

const (
	kindFlags      = 3
	incompleteFlag = 4
)

// label is a text that is counted by its folded form, and shown as written.
type label struct {
	folded, written string
}

// labelText returns the table text of a label: labels with the same folded form are neighbours.
func labelText(l label) string {
	if l.folded == l.written {
		return l.folded
	}
	return l.folded + "\x00" + l.written
}

// openLabel splits a text from labelText.
func openLabel(text []byte) (folded, written []byte) {
	folded, written, ok := bytes.Cut(text, []byte{0})
	if !ok {
		return folded, folded
	}
	return folded, written
}

// labels returns the labels of a document, one per folded form. Of two spellings, it returns the
// smaller one.
func labels(written []string) []label {
	var list []label
	for _, w := range written {
		list = append(list, label{words.Fold(w), w})
	}
	slices.SortFunc(list, func(a, b label) int {
		return cmp.Or(cmp.Compare(a.folded, b.folded), cmp.Compare(a.written, b.written))
	})
	return slices.CompactFunc(list, func(a, b label) bool { return a.folded == b.folded })
}

// rowOf returns the column values of a document.
func rowOf(d *search.Document) row {
	r := row{
		id: d.ID, set: d.Set,
		flags: uint64(d.Kind),
		stamp: d.Stamp, created: d.Created, size: uint64(d.Size),
		year:     uint64(d.Year),
		name:     words.Fold(d.Name),
		types:    strings.Join(d.Types(), "\n"),
		uploader: words.Fold(d.Uploader),
		tags:     labels(d.Tags),
		creators: labels(d.Creators),
	}
	if d.Incomplete {
		r.flags |= incompleteFlag
	}
	return r
}

// zoneTextsOf calls yield for each text of a zone of a document.
func zoneTextsOf(d *search.Document, zone int, yield func(string)) {
	switch zone {
	case nameZone:
		yield(d.Name)
	case labelZone:
		for _, list := range [][]string{d.Tags, {d.Title}, d.Creators, d.Keywords} {
			for _, text := range list {
				yield(text)
			}
		}
	case textZone:
		yield(d.Description)
		for _, p := range d.Properties {
			yield(p.Path)
			yield(p.Text)
		}
	case bodyZone:
		yield(d.Body)
	case containerZone:
		if d.Kind != search.Resource {
			yield(d.Name)
			yield(d.Title)
		}
	}
}

// addWords adds the words of all texts in a zone of a document. The first word gets the position
// begin. addWords returns the number of positions.
func (v invert) addWords(d *search.Document, zone int, begin uint64) uint64 {
	position := begin
	zoneTextsOf(d, zone, func(text string) {
		first := position
		for w := range words.Words(text) {
			v[w.Text] = append(v[w.Text], uint32(position))
			position++
		}
		if position > first {
			position++
		}
	})
	return position - begin
}

// addProperties adds the values of a document to the values of a shard.
func addProperties(to map[string]*values, d *search.Document, doc int) {
	for _, p := range d.Properties {
		path := words.Fold(p.Path)
		v := to[path]
		if v == nil {
			v = new(values)
			to[path] = v
		}
		switch p.Kind {
		case search.Text, search.Bool:
			v.texts = append(v.texts, textValue{doc, joinWords(p.Text)})
		case search.Number, search.Quantity:
			v.numbers = append(v.numbers, newNumber(doc, p.Number, p.Unit))
		case search.Date:
			v.dates = append(v.dates, dateValue{doc, int64(p.Number)})
		}
	}
}

// joinWords returns the words of a text, each followed by a separator.
func joinWords(text string) string {
	var b strings.Builder
	for w := range words.Words(text) {
		b.WriteString(w.Text)
		b.WriteByte(separator)
	}
	return b.String()
}

func newNumber(doc int, written float64, unit string) numberValue {
	si, _, ok := inSI(written, unit)
	if !ok {
		si = math.NaN() // NaN compares as false
	}
	return numberValue{doc, written, si, unit}
}

// inSI is units.SI, except that the empty unit is the unit of plain numbers.
func inSI(value float64, unit string) (si float64, dimension string, ok bool) {
	if unit == "" {
		return value, "1", true
	}
	return units.SI(value, unit)
}
