package query

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"labshelf/search/words"
)

// MaxBytes is the maximum length of a query.
const MaxBytes = 500

// MaxClauses is the maximum number of words, phrases and fields of a query: each costs a lookup in
// the index. A pasted title or sentence has fewer.
const MaxClauses = 32

// Error is a query that breaks a rule of the language.
type Error struct {
	At   int    // the start of the invalid part, in bytes
	Part string // as written; "" is the whole query
	Rule string
}

// Error returns the part and the rule.
func (e *Error) Error() string {
	if e.Part == "" {
		return e.Rule
	}
	return fmt.Sprintf("%s (at byte %d): %s", e.Part, e.At, e.Rule)
}

// Parse parses a query of at most MaxBytes of UTF-8. An empty query matches every document. The
// error is an *Error.
func Parse(text string) (Query, error) {
	switch {
	case len(text) > MaxBytes:
		return Query{}, &Error{Rule: fmt.Sprintf("a query has at most %d bytes; this one has %d", MaxBytes, len(text))}
	case !utf8.ValidString(text):
		return Query{}, &Error{Rule: "a query must be valid UTF-8"}
	}
	p := parser{text: text}
	var q Query
	for p.skipSpace(); p.at < len(text); p.skipSpace() {
		clause, ok, err := p.clause()
		if err != nil {
			return Query{}, err
		}
		if ok && !slices.ContainsFunc(q.Clauses, clause.says) {
			q.Clauses = append(q.Clauses, clause)
		}
	}
	switch {
	case len(q.Clauses) > MaxClauses:
		return Query{}, &Error{Rule: fmt.Sprintf("a query has at most %d words, phrases and fields; this one has %d", MaxClauses, len(q.Clauses))}
	case len(q.Clauses) == 0 && strings.TrimSpace(text) != "":
		return Query{}, &Error{Part: text, Rule: "a query must contain a letter or digit"}
	case len(q.String()) > MaxBytes:
		return Query{}, &Error{Rule: fmt.Sprintf("a query has at most %d bytes with a space after each quotation", MaxBytes)}
	}
	return q, nil
}

// says reports whether two clauses have the same meaning.
func (c Clause) says(other Clause) bool {
	if c.Not != other.Not || c.Field != other.Field || c.Text != other.Text || !slices.Equal(c.Words, other.Words) {
		return false
	}
	c.Source = other.Source
	return reflect.DeepEqual(c, other)
}

// String returns the canonical form of the query: single spaces, straight quotes, lower-case field
// names, and no parts without words. It parses to the same clauses.
func (q Query) String() string {
	parts := make([]string, len(q.Clauses))
	for i, c := range q.Clauses {
		parts[i] = c.String()
	}
	return strings.Join(parts, " ")
}

// String returns the clause in canonical form.
func (c Clause) String() string {
	if c.Not {
		return "-" + c.Source
	}
	return c.Source
}

// value is a text of the query: a word, or the value of a field.
type value struct {
	text   string // without quotes
	quoted bool
	at     int // the start in the query
}

// String returns the value in query syntax.
func (v value) String() string {
	if v.quoted {
		return quote(v.text)
	}
	return v.text
}

func quote(text string) string {
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// refuse returns an error about the value.
func (v value) refuse(format string, args ...any) error {
	return &Error{At: v.at, Part: v.String(), Rule: fmt.Sprintf(format, args...)}
}

// parser reads a query from beginning to end.
type parser struct {
	text string
	at   int
}

func (p *parser) rest() string { return p.text[p.at:] }

func (p *parser) skipSpace() {
	p.at = len(p.text) - len(strings.TrimLeftFunc(p.rest(), unicode.IsSpace))
}

// clause parses one clause. ok is false if it contains no word, such as a lone dash.
func (p *parser) clause() (c Clause, ok bool, err error) {
	not := p.negation()
	if not {
		p.at++
	}
	c, ok, err = p.condition()
	c.Not = not
	return c, ok, err
}

// negation reports whether a negating dash follows: a dash before anything except a space or
// another dash.
func (p *parser) negation() bool {
	after, dash := strings.CutPrefix(p.rest(), "-")
	r, _ := utf8.DecodeRuneInString(after)
	return dash && after != "" && r != '-' && !unicode.IsSpace(r)
}

// condition parses a word, a phrase, or a field with its value.
func (p *parser) condition() (Clause, bool, error) {
	if closing(p.rest()) != "" {
		return p.quotation()
	}
	name, after, colon := strings.Cut(p.bare(), ":")
	field, known := fields[words.Fold(name)]
	switch {
	case !colon || isNoValue(after), !known && (after == "" || !isBareName(name)):
	case known:
		return p.field(words.Fold(name), field)
	default:
		return p.property(value{name, false, p.at})
	}
	word := value{p.bare(), false, p.at}
	p.at += len(word.text)
	c, ok := wordsOf(Any, word)
	return c, ok, nil
}

// bare returns the text up to the next space.
func (p *parser) bare() string {
	if i := strings.IndexFunc(p.rest(), unicode.IsSpace); i >= 0 {
		return p.rest()[:i]
	}
	return p.rest()
}

// isNoValue reports whether the text after a colon shows that the text before it is not a field: an
// address (http://x), a path (C:\x), or a qualified name (std::map).
func isNoValue(after string) bool {
	return strings.HasPrefix(after, "//") || strings.HasPrefix(after, `\`) || strings.HasPrefix(after, ":")
}

// quotation parses a phrase, or a quoted property name with its value.
func (p *parser) quotation() (Clause, bool, error) {
	v, err := p.quoted()
	if err != nil {
		return Clause{}, false, err
	}
	after, colon := strings.CutPrefix(p.rest(), ":")
	if r, _ := utf8.DecodeRuneInString(after); !colon || after == "" || unicode.IsSpace(r) {
		c, ok := wordsOf(Any, v)
		return c, ok, nil
	}
	if !isName(v.text) {
		return Clause{}, false, v.refuse("a property name must begin with a letter or digit, and contain only letters, digits, spaces and _-()/%%°; to search for a phrase, put a space between its closing quote and the colon")
	}
	p.at = v.at
	return p.property(v)
}

// quoted parses a quoted text. A doubled quote stands for one.
func (p *parser) quoted() (value, error) {
	start := p.at
	end := closing(p.rest())
	_, size := utf8.DecodeRuneInString(p.rest())
	p.at += size
	var b strings.Builder
	for {
		before, after, found := strings.Cut(p.rest(), end)
		if !found {
			return value{}, &Error{At: start, Part: p.text[start:], Rule: "the closing quote is missing"}
		}
		b.WriteString(before)
		p.at = len(p.text) - len(after)
		if end != `"` || !strings.HasPrefix(after, `"`) {
			return value{b.String(), true, start}, nil
		}
		b.WriteByte('"')
		p.at++
	}
}

// quotes maps opening to closing quotes; word processors and phones insert typographic ones.
var quotes = map[rune]string{'"': `"`, '“': "”", '„': "“"}

// closing returns the closing quote for the quotation at the start of s, or "".
func closing(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	return quotes[r]
}

// field parses the value of a known field, whose name is next.
func (p *parser) field(name string, read reader) (Clause, bool, error) {
	start := p.at
	p.at += strings.IndexByte(p.rest(), ':') + 1
	v, err := p.value()
	if err != nil {
		return Clause{}, false, err
	}
	if strings.TrimSpace(v.text) == "" {
		return Clause{}, false, &Error{At: start, Part: p.text[start:p.at], Rule: "a value follows the colon, without a space"}
	}
	c, err := read(v)
	c.Source = name + ":" + v.String()
	return c, true, err
}

// value parses the value of a field: a quoted text with an optional comparison before it, or
// everything up to a space.
func (p *parser) value() (value, error) {
	comparison := comparisonOf(p.rest())
	if closing(p.rest()[len(comparison):]) == "" {
		v := value{p.bare(), false, p.at}
		p.at += len(v.text)
		return v, nil
	}
	start := p.at
	p.at += len(comparison)
	v, err := p.quoted()
	return value{comparison + v.text, true, start}, err
}

// property parses a property, whose name is next, and its value.
func (p *parser) property(name value) (Clause, bool, error) {
	start := p.at
	if name.quoted {
		if _, err := p.quoted(); err != nil {
			return Clause{}, false, err
		}
	} else {
		p.at += len(name.text)
	}
	p.at++ // the colon
	v, err := p.value()
	if err != nil {
		return Clause{}, false, err
	}
	if !name.quoted && !v.quoted && isMute(v.text) {
		word := value{p.text[start:p.at], false, start}
		c, ok := wordsOf(Any, word)
		return c, ok, nil
	}
	c, err := readProperty(v)
	c.Path = words.Fold(name.text)
	for _, s := range words.Spellings(name.text) {
		c.OtherPaths = append(c.OtherPaths, s.Text)
	}
	c.Source = propertyName(name.text, v.String()) + ":" + v.String()
	return c, true, err
}

// isMute reports whether text contains neither a word nor a comparison, such as smile:) in a text.
func isMute(text string) bool {
	return comparisonOf(text) == "" && !hasWord(text)
}

func hasWord(text string) bool {
	for range words.Words(text) {
		return true
	}
	return false
}

// propertyName returns the name of a property in query syntax: quoted if it would otherwise be
// parsed differently.
func propertyName(name, value string) string {
	if _, known := fields[words.Fold(name)]; known || !isBareName(name) || isNoValue(value) {
		return quote(name)
	}
	return name
}

// isBareName reports whether name can be a property without quotes. A name that begins with a digit
// cannot: 12:30 is a time.
func isBareName(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsLetter(first) && isName(name) && !strings.ContainsFunc(name, unicode.IsSpace)
}

// isName reports whether name can be a property path: names that begin with a letter or digit,
// separated by dots.
func isName(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		first, _ := utf8.DecodeRuneInString(part)
		if !unicode.IsLetter(first) && !unicode.IsDigit(first) || strings.ContainsFunc(part, isForeign) {
			return false
		}
	}
	return true
}

// isForeign reports whether r cannot be in a property name.
func isForeign(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" _-()/%°", r)
}

// wordsOf returns a clause of words. ok is false if the value contains none.
func wordsOf(field Field, v value) (Clause, bool) {
	c := Clause{Field: field, Whole: v.quoted, Source: v.String()}
	c.setWords(v.text)
	return c, len(c.Words) > 0
}
