package descriptive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Bounds in bytes, or in elements of a list.
const (
	maxLine   = 500
	maxURI    = 2000
	maxLong   = 16 << 10 // a string of a property
	maxTag    = 100
	maxName   = 100 // of a property
	maxUnit   = 50
	maxSome   = 100
	maxMany   = 500
	maxOfOne  = 20 // affiliations of a creator
	firstYear = 1000
	lastYear  = 9999
)

// Validate checks whether an object of kind k may have m: by the rules at the fields, and with at
// most [MaxBytes] in canonical form. The error is an [*Error] for the first violation in the order
// of the JSON form. The zero Metadata are always valid.
func (m Metadata) Validate(k Kind) error {
	c := &checker{}
	size := 0
	for i := range members {
		value := members[i].append(nil, &m)
		if len(value) == 0 {
			continue
		}
		size += len(value) + len(members[i].name) + len(`"":,`)
		c.enter(members[i].name)
		if !members[i].of[k] {
			c.refuse("is not available for %s", kindNames[k])
		}
		members[i].check(c, &m)
		c.leave()
	}
	if size+1 > MaxBytes { // without one comma, plus two braces
		c.refuse("must have at most %d bytes as JSON, and has %d", MaxBytes, size+1)
	}
	if c.err != nil {
		return c.err
	}
	return nil
}

// checker collects the first error, and knows the current member.
type checker struct {
	path []string
	err  *Error
}

func (c *checker) enter(name string) { c.path = append(c.path, name) }
func (c *checker) leave()            { c.path = c.path[:len(c.path)-1] }

func (c *checker) refuse(format string, args ...any) {
	if c.err != nil {
		return
	}
	field := Root
	for _, name := range c.path {
		field += "." + shorten(name)
	}
	c.err = &Error{field, fmt.Sprintf(format, args...)}
}

// in runs a check of the member name.
func (c *checker) in(name string, check func()) {
	c.enter(name)
	check()
	c.leave()
}

// line checks a string of one line.
func (c *checker) line(text string, most int) {
	c.text(text, most)
	if strings.ContainsAny(text, "\n\r\t") {
		c.refuse("must not have line breaks or tabs")
	}
}

// text checks a string that may have several lines.
func (c *checker) text(text string, most int) {
	switch {
	case !utf8.ValidString(text):
		c.refuse("must be valid UTF-8")
	case len(text) > most:
		c.refuse("must have at most %d bytes", most)
	case strings.ContainsFunc(text, hides):
		c.refuse("must not have control or text-direction characters")
	}
}

// hides reports whether r can hide or forge text, as in other texts of a record: control characters
// except line breaks and tabs, and characters that change the direction of writing.
func hides(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// oneOf checks a word of a vocabulary.
func (c *checker) oneOf(text string, words []string) {
	switch {
	case text == "":
		c.refuse("must be present")
	case !slices.Contains(words, text):
		c.refuse("must be one of %s", strings.Join(words, ", "))
	}
}

// optional checks an optional word of a vocabulary.
func (c *checker) optional(text string, words []string) {
	if text != "" {
		c.oneOf(text, words)
	}
}

func checkKeyword(c *checker, keyword string) { c.word(keyword, maxLine) }

func checkTag(c *checker, tag string) {
	c.word(tag, maxTag)
	if strings.Contains(tag, ",") {
		c.refuse("must not have a comma")
	}
}

// word checks a string of one line that is compared with others.
func (c *checker) word(text string, most int) {
	c.name(text, most)
	if !norm.NFC.IsNormalString(text) {
		c.refuse("must be in Unicode's normal form C")
	}
}

// name checks a required string of one line.
func (c *checker) name(text string, most int) {
	c.line(text, most)
	switch {
	case text == "":
		c.refuse("must be present, and not empty")
	case strings.TrimSpace(text) != text:
		c.refuse("must not begin or end with white space")
	}
}

// checkUnique checks a list of words.
func checkUnique(c *checker, words []string, check func(*checker, string)) {
	seen := make(map[string]bool, len(words))
	checkList(c, words, maxSome, func(word string, c *checker) {
		check(c, word)
		if seen[word] {
			c.refuse("must not occur twice")
		}
		seen[word] = true
	})
}

func checkList[T any](c *checker, list []T, most int, check func(T, *checker)) {
	if len(list) > most {
		c.refuse("must have at most %d elements", most)
		return
	}
	for i, element := range list {
		c.in(strconv.Itoa(i), func() { check(element, c) })
	}
}

func (g Group) check(c *checker, depth int) {
	if depth > maxDepth {
		c.refuse("must not nest lists and groups deeper than %d levels", maxDepth)
		return
	}
	for i, p := range g {
		c.enter(p.Name)
		c.propertyName(p.Name)
		if i > 0 && g[i-1].Name >= p.Name {
			c.refuse("must be unique, and sorted by name")
		}
		p.Value.check(c, depth)
		c.leave()
	}
}

func (c *checker) propertyName(name string) {
	first, _ := utf8.DecodeRuneInString(name)
	switch {
	case len(name) > maxName:
		c.refuse("must have a name of at most %d bytes", maxName)
	case !unicode.IsLetter(first) && !unicode.IsDigit(first):
		c.refuse("must have a name that begins with a letter or a digit")
	case strings.ContainsFunc(name, isForeign) || strings.HasSuffix(name, " "):
		c.refuse("must have a name of letters, digits, spaces and _ - ( ) / %% °, which does not end with a space")
	case !norm.NFC.IsNormalString(name):
		c.refuse("must have a name in Unicode's normal form C")
	}
}

// isForeign reports whether r is invalid in the name of a property. Many scripts write vowels as
// marks.
func isForeign(r rune) bool {
	return r == utf8.RuneError || !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit) && !strings.ContainsRune(" _-()/%°", r)
}

func (v Value) check(c *checker, depth int) {
	switch v.form {
	case Text, Time:
		c.text(v.text, maxLong)
	case Decimal:
		c.number(Number(v.text))
	case Quantity:
		c.in("value", func() { c.number(Number(v.text)) })
		c.in("unit", func() { c.word(v.unit, maxUnit) })
	case Properties:
		v.group.check(c, depth+1)
	case List:
		if depth >= maxDepth {
			c.refuse("must not nest lists and groups deeper than %d levels", maxDepth)
			return
		}
		for i, element := range v.list {
			c.in(strconv.Itoa(i), func() { element.check(c, depth+1) })
		}
	}
}

func (c *checker) number(n Number) {
	if !n.isNumber() {
		c.refuse("must be a number that fits into 64 bits of floating point")
	}
}
