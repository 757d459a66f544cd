package schemas

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxShown bounds the choices, and the characters of each, in a message.
const maxShown = 40

// nouns are the names of the JSON types for people who fill in forms.
var nouns = map[string]string{
	"null": "empty (null)", "boolean": "true or false", "number": "a number", "integer": "a whole number", "string": "a text",
	"array": "a list", "object": "a group of properties",
}

// failure is one way in which a value violates a schema. Rule is the keyword. A group has the rule
// "", and its causes are reported instead.
type failure struct {
	rule    string
	node    *node
	path    []token
	value   any        // for type and format
	names   []string   // of members
	because string     // the member that requires these names
	got     int        // a size, or the index of an item
	want    int        // its bound, or the index of another item
	bound   *big.Rat   // of a number
	causes  []*failure // of a group; for anyOf and oneOf one for each alternative
}

// describe returns the message of a failure without causes.
func (f *failure) describe() string {
	switch f.rule {
	case "type":
		return fmt.Sprintf("must be %s, not %s", oneOf(typeNames(f.node.types.words())), nouns[typeOf(f.value).words()[0]])
	case "enum":
		return "must be " + oneOf(shown(f.node.enum))
	case "const":
		return "must be " + show(*f.node.constant)
	case "format":
		return "must be " + formatNoun(f.node.format, f.value)
	case "pattern":
		return "must match the regular expression " + f.node.pattern.String()
	case "uniqueItems":
		return fmt.Sprintf("has the same item twice, as number %d and number %d", f.got+1, f.want+1)
	case "contains":
		return "has no item that matches the schema of contains"
	case "minContains":
		return fmt.Sprintf("has %d items that match the schema of contains, but requires at least %d", f.got, f.want)
	case "maxContains":
		return fmt.Sprintf("has %d items that match the schema of contains, but allows at most %d", f.got, f.want)
	case "not":
		return "has a value that the schema excludes"
	case "false":
		return "is not allowed here"
	case "dependencies":
		return fmt.Sprintf("requires %s if %s is given", strings.Join(f.names, ", "), quoted(f.because))
	}
	if f.bound != nil {
		return boundWords[f.rule] + decimal(f.bound)
	}
	words := sizeWords[f.rule]
	noun := words.many
	if f.want == 1 {
		noun = words.one
	}
	return fmt.Sprintf("must have %s %d %s, and has %d", words.bound, f.want, noun, f.got)
}

// boundWords are the messages of keywords that bound a number.
var boundWords = map[string]string{
	"minimum": "must be at least ", "maximum": "must be at most ", "multipleOf": "must be a multiple of ",
	"exclusiveMinimum": "must be more than ", "exclusiveMaximum": "must be less than ",
}

// sizeWords are the words for keywords that bound a size.
var sizeWords = map[string]struct{ bound, one, many string }{
	"minLength": {"at least", "character", "characters"}, "maxLength": {"at most", "character", "characters"},
	"minItems": {"at least", "item", "items"}, "maxItems": {"at most", "item", "items"},
	"minProperties": {"at least", "property", "properties"}, "maxProperties": {"at most", "property", "properties"},
}

// formatNoun describes a format. For an invalid regular expression it returns the error.
func formatNoun(format string, value any) string {
	if noun := formatNouns[format]; noun != "" {
		return noun
	}
	if text, ok := value.(string); ok && format == "regex" {
		if _, err := checkPattern(text); err != nil {
			return "a regular expression: " + err.Error()
		}
	}
	return "of the format " + format
}

func typeNames(types []string) []string {
	var names []string
	for _, t := range types {
		if !slices.Contains(names, nouns[t]) {
			names = append(names, nouns[t])
		}
	}
	return names
}

// oneOf joins alternatives, and lists at most maxShown of them.
func oneOf(words []string) string {
	if len(words) > maxShown {
		return fmt.Sprintf("one of %s and %d more", strings.Join(words[:maxShown], ", "), len(words)-maxShown)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func shown(values []any) []string {
	var texts []string
	for _, v := range values {
		texts = append(texts, show(v))
	}
	return texts
}

// show formats a value for a message.
func show(v any) string {
	if text, ok := v.(string); ok {
		return quoted(text)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "the value in the schema" // cannot happen: every value of a schema has a JSON form
	}
	return shorten(string(text))
}

func quoted(text string) string { return strconv.Quote(shorten(text)) }

// shorten truncates a text after maxShown characters.
func shorten(text string) string {
	characters := []rune(text)
	if len(characters) <= maxShown {
		return text
	}
	return string(characters[:maxShown]) + "…"
}

// decimal formats a number of a schema.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return shorten(r.Num().String())
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
