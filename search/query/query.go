// Package query implements the search language: [Parse] turns user input into a [Query], which
// defines exactly which documents match. docs/reference/search.md describes the language to users.
// The package is pure: it uses neither index nor records.
package query

import (
	"labshelf/search"
	"labshelf/search/words"
)

// Query is a list of clauses that a document must all match. Every document matches the zero Query.
type Query struct {
	Clauses []Clause
}

// Field is the field to which a clause applies.
type Field uint8

// Fields, with the operands of [Clause] that each uses. Zero is invalid.
const (
	// Any matches a word or phrase (Words, Whole) in the name, a tag, the title, a creator, a
	// keyword, the description, the path or text of a property of any kind, or the full text. The
	// words must be adjacent in one text, never across two tags, or across the path and the text of
	// a property.
	Any Field = iota + 1
	// Name matches a word or phrase (Words, Whole) in the name.
	Name
	// Tag matches a tag whose folded form equals Text or one of Others[0].
	Tag
	// Type matches a resource for which one of [search.Document.Types] equals Text.
	Type
	// OfKind matches a document of the Kind.
	OfKind
	// In matches a document whose Dataspace or Set is one of Within. The caller resolves it from
	// Text, the path as written, with [Query.Resolve]; unresolved, it matches nothing.
	In
	// By matches a document whose folded Uploader equals Text or one of Others[0].
	By
	// Creator matches a creator whose name contains each of Words as a word, in any order, or
	// unless Whole as the prefix of a word.
	Creator
	// Size matches a resource whose Size is in the Span, in bytes.
	Size
	// Modified matches a document whose Stamp is in the Span, in microseconds since 1970 UTC.
	Modified
	// Created matches a document whose Created is in the Span, in microseconds since 1970 UTC.
	Created
	// Year matches a document whose Year is in the Span, and not 0.
	Year
	// Incomplete matches a document that is Incomplete. It has no operand.
	Incomplete
	// Property matches a property whose folded path equals Path or one of OtherPaths, and whose
	// value matches one of the readings: Words (with Whole; as in the full text) for properties of
	// kinds Text and Bool, Numbers for Number and Quantity, Span for Date. A missing reading
	// matches nothing.
	Property
)

// Clause is one condition. Its operands depend on its Field.
//
// Words are matched as follows. One word matches a whole word. Unless Whole, it also matches the
// prefix of a word and, in names, from two characters on, the inside of a word. Several words match
// adjacent words. Unless Whole, the last can be the prefix of a word. In names, the first, from two
// characters on, can be the end of a word.
//
// Each of Others, the other spellings of a word, is equivalent to the word. [Clause.Quality]
// applies these rules.
type Clause struct {
	Not   bool // the condition must not hold
	Field Field
	Kind  search.Kind
	Path  string // folded
	Text  string // folded; for In as written
	Words []string
	// Others has the other spellings of each of Words, or of Text of a Tag or By. It is nil without
	// other spellings.
	Others [][]words.Spelling
	// OtherPaths has the other spellings of Path, folded.
	OtherPaths []string
	Whole      bool // the words were quoted, so they match as a whole
	// Numbers is nil if the clause cannot be read as a number or a range of numbers.
	Numbers *Numbers
	// Span is nil without a reading as a span of times, sizes or years.
	Span *Span
	// Within contains ids of dataspaces and sets.
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

// Numbers is a range of numbers or quantities. A nil bound leaves its side open; at least one bound
// is set.
//
// A bound without a unit is compared with the number as written, for any unit of the property. A
// bound with a unit is compared in SI with numbers and quantities of the same dimension. The
// dimension of a number without a unit is "1", as in package units. If [Readings] returns several
// units, the one with that dimension applies. If none of them is known, the range matches only a
// quantity with the same unit as written and the same number, and only if it is [Numbers.Exact].
type Numbers struct {
	Low, High *Bound
}

// Exact reports whether the range is one number: both bounds are set, closed and equal.
func (n Numbers) Exact() bool {
	return n.Low != nil && n.High != nil && *n.Low == *n.High && n.Low.Closed
}

// Bound is one side of a range.
type Bound struct {
	Value  float64
	Unit   string // as written, "" without a unit
	Closed bool   // the bound itself is in the range
}

// tolerance is the relative difference at which a value counts as equal to a bound, because
// conversions to SI round.
const tolerance = 1e-9

// Above reports whether x is on the upper side of low: greater, or equal within a relative
// tolerance of 1e-9 if closed. Both are in the unit of the bound, or both in SI. It is monotonic in
// x.
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

// Readings returns the possible meanings of unit in the notation of package units: "C" is °C as
// well as coulomb.
func Readings(unit string) []string {
	if degrees, ok := degreeUnits[unit]; ok {
		return []string{unit, degrees}
	}
	return []string{unit}
}

// degreeUnits maps units written without a degree sign.
var degreeUnits = map[string]string{"C": "°C", "F": "°F"}

// Resolve returns the query with Within of each In clause set to the result of find for its Text,
// the path "dataspace" or "dataspace/set" as written. It returns errors of find unchanged.
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
