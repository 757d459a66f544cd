// Package query is the language of the search: [Parse] makes of what a person typed a [Query],
// which says exactly what must hold of a document. docs/reference/search.md describes the language
// to users. The package is pure: it knows no index and no record.
package query

import (
	"labshelf/search"
	"labshelf/search/words"
)

// Query is a list of clauses that must all hold of a document. The zero Query holds of every
// document.
type Query struct {
	Clauses []Clause
}

// Field says what a clause speaks of.
type Field uint8

// Fields, with the operands of [Clause] that each uses. Zero is none.
const (
	// Any is a word or phrase (Words, Whole) in the name, a tag, the title, a creator, a keyword,
	// the description, the path or text of a property of any kind, or the full text. The words are
	// found adjacent, in one text; never across two tags, or the path and the text of a property.
	Any Field = iota + 1
	// Name is a word or phrase (Words, Whole) in the name.
	Name
	// Tag is a tag whose folded form equals Text or one of Others[0].
	Tag
	// Type is a resource for which one of [search.Document.Types] equals Text.
	Type
	// OfKind is a document of the Kind.
	OfKind
	// In is a document whose Dataspace or Set is one of Within. The caller resolves it from Text,
	// the path as written, with [Query.Resolve]; unresolved, it holds of no document.
	In
	// By is a document whose folded Uploader equals Text or one of Others[0].
	By
	// Creator is a creator of whom every one of Words is a word, in any order, or unless Whole the
	// prefix of a word. All are found in one creator.
	Creator
	// Size is a resource whose Size is in the Span, in bytes.
	Size
	// Modified is a document whose Stamp is in the Span, in microseconds since 1970 UTC.
	Modified
	// Created is a document whose Created is in the Span, in microseconds since 1970 UTC.
	Created
	// Year is a document whose Year is in the Span, and not 0.
	Year
	// Incomplete is a document that is Incomplete. It has no operand.
	Incomplete
	// Property is a property whose folded path equals Path or one of OtherPaths, and whose value
	// fits one of the readings: Words (with Whole; as in the full text) for properties of kinds
	// Text and Bool, Numbers for Number and Quantity, Span for Date. A reading that the clause does
	// not have fits nothing.
	Property
)

// Clause is one condition. Which operands it has depends on its Field.
//
// Words are matched as follows. One word is found as a whole word; unless Whole, it is found as the
// prefix of a word, too, and in names, from two characters on, inside a word. Several words are
// found as adjacent words; unless Whole, the last may be the prefix of a word, and in names the
// first, from two characters on, the end of a word.
//
// Each of Others, the other spellings of a word, is as good as the word. [Clause.Quality] applies
// these rules.
type Clause struct {
	Not   bool // the condition must not hold
	Field Field
	Kind  search.Kind
	Path  string // folded
	Text  string // folded; of In as written
	Words []string
	// Others has the other spellings of each of Words, or of Text of a Tag or By. It is nil if
	// there are none at all.
	Others [][]words.Spelling
	// OtherPaths are the other spellings of Path, folded.
	OtherPaths []string
	Whole      bool // the words are matched as a whole: they stood in quotes
	// Numbers is nil where the clause has no numeric reading.
	Numbers *Numbers
	// Span is nil where the clause has no reading as a span of times, sizes or years.
	Span *Span
	// Within holds ids of dataspaces and sets.
	Within [][16]byte
	// Source is the clause in canonical form, without the "-" of Not. It is for people, and for
	// Query.String.
	Source string
}

// Span is a half-open range of integers, From ≤ x < To. math.MinInt64 and math.MaxInt64 leave a
// side open.
type Span struct {
	From, To int64
}

// Holds reports whether x is in the span.
func (s Span) Holds(x int64) bool { return s.From <= x && x < s.To }

// Numbers is a range of numbers or quantities. A nil bound leaves its side open; at least one is
// there.
//
// A bound without a unit is compared with the number as written, whatever the unit of the property.
// A bound with a unit is compared in SI with numbers and quantities of the same dimension, that of
// a number without a unit being "1", as of package units; of the units that [Readings] gives for
// its unit, the one of that dimension counts. Where none of these is known, the range holds of a
// quantity with the same unit as written and the same number if it is [Numbers.Exact], and of
// nothing otherwise: an unknown unit equals only itself.
type Numbers struct {
	Low, High *Bound
}

// Exact reports whether the range is one number: both bounds are there, closed and equal.
func (n Numbers) Exact() bool {
	return n.Low != nil && n.High != nil && *n.Low == *n.High && n.Low.Closed
}

// Bound is one side of a range.
type Bound struct {
	Value  float64
	Unit   string // as written, "" for none
	Closed bool   // the bound itself is in the range
}

// tolerance is how far, relative to the bound, a value is equal to it: conversions to SI round.
const tolerance = 1e-9

// Above reports whether x, in the unit of the bound or both of them in SI, is on the upper side of
// low: greater, or equal within a relative tolerance of 1e-9 if closed. It is monotonic in x.
func Above(x, low float64, closed bool) bool {
	if closed {
		return x >= low-margin(low)
	}
	return x > low+margin(low)
}

// Below is [Above] for the lower side of high.
func Below(x, high float64, closed bool) bool {
	if closed {
		return x <= high+margin(high)
	}
	return x < high-margin(high)
}

func margin(bound float64) float64 {
	return tolerance * max(bound, -bound)
}

// Readings returns the units that a person can mean by unit, as package units writes them: "C" is
// °C as well as coulomb.
func Readings(unit string) []string {
	if degrees, ok := degreeUnits[unit]; ok {
		return []string{unit, degrees}
	}
	return []string{unit}
}

// degreeUnits gives the unit that is written without its degree sign.
var degreeUnits = map[string]string{"C": "°C", "F": "°F"}

// Resolve returns the query with Within of each In clause set to what find returns for its Text,
// the path "dataspace" or "dataspace/set" as written. An error of find is returned as it is.
func (q Query) Resolve(find func(path string) ([][16]byte, error)) (Query, error) {
	resolved := Query{Clauses: make([]Clause, len(q.Clauses))}
	for i, c := range q.Clauses {
		if c.Field == In {
			ids, err := find(c.Text)
			if err != nil {
				return Query{}, err
			}
			c.Within = ids
		}
		resolved.Clauses[i] = c
	}
	return resolved, nil
}
