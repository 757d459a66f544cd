package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"

	"labshelf/formats/descriptive"
)

const (
	maxName = 100      // bytes of a name of a property
	maxText = 16 << 10 // bytes of a text
	maxList = 200      // elements of a list that a header gives
)

// collector collects properties, each of which is valid.
type collector struct {
	group descriptive.Group
	bytes int // of the canonical form of group, without braces
	left  int
}

// room is how many bytes the properties may have.
const room = descriptive.MaxBytes - len(`{"properties":{}}`)

// add adds a property, under a name that is allowed. Empty texts, lists and groups say nothing.
func (c *collector) add(name string, v descriptive.Value) {
	if isEmpty(v) {
		return
	}
	name = propertyName(name)
	if _, taken := c.group.Get(name); taken || len(c.group) == MaxProperties {
		c.left++
		return
	}
	one := descriptive.Metadata{Properties: descriptive.Group{{Name: name, Value: v}}}
	bytes := len(one.Append(nil)) - len(`{"properties":{}}`) + len(",")
	if one.Validate(descriptive.Resource) != nil || c.bytes+bytes > room {
		c.left++
		return
	}
	c.bytes += bytes
	c.group = c.group.With(name, v)
}

func (c *collector) result() Result { return Result{c.group, c.left} }

// text adds a text.
func (c *collector) text(name, text string) { c.add(name, descriptive.TextOf(clean(text))) }

func isEmpty(v descriptive.Value) bool {
	switch v.Form() {
	case descriptive.Text:
		return v.Text() == ""
	case descriptive.List:
		return len(v.List()) == 0
	case descriptive.Properties:
		return len(v.Group()) == 0
	}
	return false
}

// propertyName makes a name that a property may have: square and curly brackets become round ones,
// every other character that may not be in it _; what may not begin or end a name is left out, and
// it is cut off. "" if nothing is left.
func propertyName(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '[' || r == '{':
			return '('
		case r == ']' || r == '}':
			return ')'
		case r == utf8.RuneError || !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit, unicode.Space) && !strings.ContainsRune("_-()/%°", r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, norm.NFC.String(strings.ToValidUTF8(name, "_")))
	name = strings.TrimLeftFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.TrimRight(cut(name, maxName), " ")
}

// cut cuts a text to at most so many bytes, between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// decode returns a text in UTF-8; what is not, is taken for Windows-1252, as older instruments
// write it.
func decode(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	text, _ := charmap.Windows1252.NewDecoder().Bytes(raw)
	return strings.ToValidUTF8(string(text), "_")
}

// clean makes a text of a header one that a property may have: without what is hidden, or around
// it, and cut off where it is too long.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return r
		case unicode.IsControl(r) || r == utf8.RuneError:
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.TrimRight(text, "\x00"))
	return strings.TrimSpace(cut(strings.TrimSpace(text), maxText))
}

// cString returns a text of the bytes before the first NUL.
func cString(raw []byte) string {
	before, _, _ := strings.Cut(string(raw), "\x00")
	return clean(decode([]byte(before)))
}
