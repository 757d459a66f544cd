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
	maxName = 100      // bytes of a property's name
	maxText = 16 << 10 // bytes of a text
	maxList = 200      // elements of a list that a header gives
)

// collector collects properties, and validates each.
type collector struct {
	group descriptive.Group
	bytes int // of the canonical form of group, without braces
	left  int
}

// room is the number of bytes available for properties.
const room = descriptive.MaxBytes - len(`{"properties":{}}`)

// add adds a property under a valid name. It ignores empty texts, lists and groups.
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

// propertyName turns a name into a valid name of a property. Square and curly brackets become round
// ones, and other invalid characters become _. It omits characters that are invalid at the
// beginning or the end, and truncates the name. It returns "" if no character is left.
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

// cut truncates a string to at most the given number of bytes, between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// decode returns a text in UTF-8. It decodes invalid UTF-8 as Windows-1252, which older instruments
// write.
func decode(raw []byte) string {
	if utf8.Valid(raw) {
		return string(raw)
	}
	text, _ := charmap.Windows1252.NewDecoder().Bytes(raw)
	return strings.ToValidUTF8(string(text), "_")
}

// clean makes a text of a header valid for a property: it removes hidden characters and surrounding
// space, and truncates a long text.
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

// cString returns the text before the first NUL byte.
func cString(raw []byte) string {
	before, _, _ := strings.Cut(string(raw), "\x00")
	return clean(decode([]byte(before)))
}
