package core

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckContainerName checks the name of a set or dataspace.
func CheckContainerName(name string) error {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	}
	if len(name) < minSetNameChars || len(name) > maxSetNameChars || strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }) {
		return Invalid("name", "name must have %d to %d characters, each a lowercase letter a-z, a digit, - or _", minSetNameChars, maxSetNameChars)
	}
	return nil
}

// Maximum and minimum sizes of texts.
const (
	MaxNameBytes    = 4096
	maxTitleChars   = 500
	MaxFormatChars  = 100
	maxLabelChars   = 100
	maxProseBytes   = 16 << 10
	MaxMimeBytes    = 255
	MaxUsername     = 100
	maxSetNameChars = 100
	minSetNameChars = 2
)

// TextRule is the rule for one kind of text.
type TextRule struct {
	What      string // how messages name the text, if not by its field
	Min, Max  int
	Bytes     bool // Min and Max count bytes, otherwise characters
	multiline bool // allow line breaks and tabs
}

var (
	// NameText is the rule for the names of files, and for paths.
	NameText = TextRule{Min: 1, Max: MaxNameBytes, Bytes: true}
	// FileText is the rule for file names as they are sent.
	FileText = TextRule{What: "the file name", Min: 1, Max: MaxNameBytes, Bytes: true}
	// TitleText is the rule for titles and full names.
	TitleText = TextRule{Max: maxTitleChars}
	// FormText is the rule for formats.
	FormText = TextRule{Max: MaxFormatChars}
	// LabelText is the rule for labels.
	LabelText = TextRule{Max: maxLabelChars}
	// ProseText is the rule for descriptions.
	ProseText = TextRule{Max: maxProseBytes, Bytes: true, multiline: true}
)

// Check returns an error with the field and the rule if value breaks the rule.
func (rule TextRule) Check(field, value string) error {
	what := cmp.Or(rule.What, field)
	if !utf8.ValidString(value) {
		return Invalid(field, "%s must be valid UTF-8", what)
	}
	if i := strings.IndexFunc(value, rule.forbids); i >= 0 {
		return Invalid(field, "%s must not have control or text-direction characters; there is one at byte %d", what, i)
	}
	length, unit := utf8.RuneCountInString(value), "characters"
	if rule.Bytes {
		length, unit = len(value), "bytes"
	}
	switch {
	case length > rule.Max:
		return Invalid(field, "%s may have up to %d %s; this one has %d", what, rule.Max, unit, length)
	case length < rule.Min:
		return Invalid(field, "%s must have at least %d %s", what, rule.Min, unit)
	}
	return nil
}

// forbids reports whether a character can hide or forge text: control characters, and characters
// that change the direction of writing.
func (rule TextRule) forbids(r rune) bool {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return !rule.multiline
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// Shorten makes an untrusted text safe to display: it limits the length and replaces unprintable
// characters.
func Shorten(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}
