package repository

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// Fields is what a request says about an object, by the names of the interface, as JSON decodes:
// string, bool, json.Number, nil, []any, map[string]any; metadata and schema stay as they were
// sent, a json.RawMessage. Use cases take it raw, because the order of checks is fixed: the parent
// is looked up and the caller authorised before the rest is read.
type Fields map[string]any

// Sizes of texts.
const (
	maxNameBytes    = 4096
	maxTitleChars   = 500
	maxFormatChars  = 100
	maxLabelChars   = 100
	maxProseBytes   = 16 << 10
	maxMimeBytes    = 255
	maxUsername     = 100
	maxSetNameChars = 100
	minSetNameChars = 2
)

// text is the rule that one kind of text obeys.
type text struct {
	what      string // what it is, if its field does not say it
	min, max  int
	bytes     bool // min and max count bytes, else characters
	multiline bool // line breaks and tabs are fine
}

var (
	// nameText is the rule for the names of files, and for paths.
	nameText = text{min: 1, max: maxNameBytes, bytes: true}
	// fileText is the rule for file names as they are sent.
	fileText = text{what: "the file name", min: 1, max: maxNameBytes, bytes: true}
	// titleText is the rule for titles and full names.
	titleText = text{max: maxTitleChars}
	// formText is the rule for formats.
	formText = text{max: maxFormatChars}
	// labelText is the rule for labels.
	labelText = text{max: maxLabelChars}
	// proseText is the rule for descriptions.
	proseText = text{max: maxProseBytes, bytes: true, multiline: true}
)

// check returns an error that names field and rule where value breaks the rule.
func (rule text) check(field, value string) error {
	what := cmp.Or(rule.what, field)
	if !utf8.ValidString(value) {
		return invalid(field, "%s must be valid UTF-8", what)
	}
	if i := strings.IndexFunc(value, rule.forbids); i >= 0 {
		return invalid(field, "%s must not have control or text-direction characters; there is one at byte %d", what, i)
	}
	length, unit := utf8.RuneCountInString(value), "characters"
	if rule.bytes {
		length, unit = len(value), "bytes"
	}
	switch {
	case length > rule.max:
		return invalid(field, "%s may have up to %d %s; this one has %d", what, rule.max, unit, length)
	case length < rule.min:
		return invalid(field, "%s must have at least %d %s", what, rule.min, unit)
	}
	return nil
}

// forbids tells whether the character can hide or forge something: control characters, and those
// that turn the direction of writing.
func (rule text) forbids(r rune) bool {
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

// setters says which fields of a T a request may set: each checks a value and stores it.
type setters[T any] map[string]func(object *T, field string, value any) error

// textSetter sets a string that obeys rule.
func textSetter[T any](rule text, at func(*T) *string) func(*T, string, any) error {
	return func(object *T, field string, value any) error {
		s, err := stringValue(field, value)
		if err != nil {
			return err
		}
		if err := rule.check(field, s); err != nil {
			return err
		}
		*at(object) = s
		return nil
	}
}

// boolSetter sets a truth value.
func boolSetter[T any](at func(*T) *bool) func(*T, string, any) error {
	return func(object *T, field string, value any) error {
		b, ok := value.(bool)
		if !ok {
			return invalid(field, "%s must be true or false", field)
		}
		*at(object) = b
		return nil
	}
}

// stringValue returns the value of a field that must be a string.
func stringValue(field string, value any) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", invalid(field, "%s must be a string", field)
	}
	return s, nil
}

// stringsValue returns a list of strings.
func stringsValue(field string, value any) ([]string, error) {
	list, ok := value.([]any)
	texts := make([]string, len(list))
	for i, item := range list {
		var text bool
		texts[i], text = item.(string)
		ok = ok && text
	}
	if !ok {
		return nil, invalid(field, "%s must be a list of strings", field)
	}
	return texts, nil
}

// required returns a field that must be a string: the one that names a parent, or the object's own
// name.
func (f Fields) required(field string) (string, error) {
	value, sent := f[field]
	if !sent {
		return "", missing(field, "%s is required", field)
	}
	return stringValue(field, value)
}

// create sets the fields of a new object. The fields in handled have been dealt with by the caller.
func create[T any](object *T, f Fields, may setters[T], handled ...string) error {
	for _, field := range slices.Sorted(maps.Keys(f)) {
		if slices.Contains(handled, field) {
			continue
		}
		set, ok := may[field]
		if !ok {
			return unknownField(field, "this request; it takes", slices.AppendSeq(slices.Clone(handled), maps.Keys(may)))
		}
		if err := set(object, field, f[field]); err != nil {
			return err
		}
	}
	return nil
}

// Edit is a change that a request asks for. Only the fields sent are changed.
type Edit[T any] struct {
	Fields Fields
	Match  Match
	// Shown returns the object as a client sees it. A field that is not to be changed is accepted
	// with the value shown, so that what GET returned can be edited and sent back.
	Shown func(T) Fields
}

// apply sets the fields of object, which is the stored one, and tells whether anything changed.
// refuse makes the error for a field that cannot be changed; it comes only when all the rest is
// valid.
func apply[T any](object *T, edit Edit[T], may setters[T], refuse func(field string) error) (changed bool, err error) {
	before := *object
	var shown Fields
	var refused error
	for _, field := range slices.Sorted(maps.Keys(edit.Fields)) {
		value := edit.Fields[field]
		if set, ok := may[field]; ok {
			if err := set(object, field, value); err != nil {
				return false, err
			}
			continue
		}
		if shown == nil {
			shown = edit.Shown(before)
		}
		stored, known := shown[field]
		switch {
		case !known:
			return false, unknownField(field, "this object; it can change", slices.Collect(maps.Keys(may)))
		case value == nil:
			return false, invalid(field, "%s cannot be null, nor be changed", field)
		case !equal(stored, value) && refused == nil:
			refused = refuse(field)
		}
	}
	if refused != nil {
		return false, refused
	}
	return !reflect.DeepEqual(before, *object), nil
}

// equal compares two values as JSON decodes them. Numbers are equal that are only written in
// different ways.
func equal(a, b any) bool {
	one, isNumber := a.(json.Number)
	other, both := b.(json.Number)
	if !isNumber || !both {
		return reflect.DeepEqual(a, b)
	}
	x, errX := one.Float64()
	y, errY := other.Float64()
	return one == other || errX == nil && errY == nil && x == y
}

// unknownField refuses a field that is not one of the accepted.
func unknownField(field, of string, accepted []string) error {
	slices.Sort(accepted)
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: Shorten(field),
		Message: strconv.Quote(Shorten(field)) + " is not a field of " + of + " " + strings.Join(accepted, ", ")}
}

// readOnly is the usual refusal of a change to a field.
func readOnly(field string) error {
	return conflict(errs.CodeReadOnlyField, field, "%s cannot be changed; leave it out or send it as it is", field)
}

// Shorten makes a text from a stranger fit to be shown: not long, and nothing in it that acts
// instead of being seen.
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

// invalid returns an error of the kind Invalid about the value of a field.
func invalid(field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: field, Message: fmt.Sprintf(format, args...)}
}

// missing returns an error of the kind Invalid about a field that was left out.
func missing(field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Invalid, Code: errs.CodeMissingField, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Match is the preconditions of a request on the version of an object (RFC 9110, section 13). The
// zero Match is none.
type Match struct {
	IfMatch     ETags
	IfNoneMatch ETags // of a request that changes something: for a read it decides about 304, which is the gateway's
	// IfUnmodifiedSince is ignored where IfMatch is set; the zero time is no condition.
	IfUnmodifiedSince time.Time
}

// ETags is the value of If-Match or If-None-Match. The zero ETags is an absent header.
type ETags struct {
	Set  bool     // the header was sent
	Any  bool     // "*", which any version matches
	Tags []string // without quotes; a weak one keeps its prefix W/
}

// weakPrefix is before a weak entity tag.
const weakPrefix = "W/"

// Strong tells whether a version with this tag is one of these by strong comparison, in which a
// weak tag equals none.
func (e ETags) Strong(tag string) bool {
	return e.Set && (e.Any || slices.Contains(e.Tags, tag))
}

// Weak tells whether a version with this tag is one of these by weak comparison.
func (e ETags) Weak(tag string) bool {
	return e.Set && (e.Any || slices.ContainsFunc(e.Tags, func(t string) bool { return strings.TrimPrefix(t, weakPrefix) == tag }))
}

// Check returns an error of the kind Precondition if a condition is false for the version with this
// tag that was modified last at modified. A stamp has microseconds and a date of HTTP has seconds,
// so that a change within the second of the date counts as later.
func (m Match) Check(tag string, modified metadata.Stamp) error {
	switch {
	case m.IfMatch.Set && !m.IfMatch.Strong(tag):
		return preconditionFailed("the object has changed since the version that If-Match names; read it again")
	case !m.IfMatch.Set && !m.IfUnmodifiedSince.IsZero() && modified > metadata.Stamp(m.IfUnmodifiedSince.UnixMicro()):
		return preconditionFailed("the object has changed since the date in If-Unmodified-Since; read it again")
	case m.IfNoneMatch.Weak(tag):
		return preconditionFailed("the object is in the version that If-None-Match excludes")
	}
	return nil
}

// preconditionFailed returns an error of the kind Precondition.
func preconditionFailed(message string) error {
	return &errs.Error{Kind: errs.Precondition, Code: errs.CodePrecondition, Message: message}
}

// conflict returns an error of the kind Conflict.
func conflict(code errs.Code, field, format string, args ...any) *errs.Error {
	return &errs.Error{Kind: errs.Conflict, Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// numberWithin reads a whole number.
func numberWithin(field, text string, least, most uint64) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most || strconv.FormatUint(n, 10) != text {
		return 0, invalid(field, "%s must be a whole number from %d to %d", field, least, most)
	}
	return n, nil
}
