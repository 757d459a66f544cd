package schemas

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxShown bounds the choices, and the characters of each, that a message names.
const maxShown = 40

// nouns are the types of JSON in the words of people who fill in forms.
var nouns = map[string]string{
	"null": "empty (null)", "boolean": "true or false", "number": "a number", "integer": "a whole number", "string": "a text",
	"array": "a list", "object": "a group of properties",
}

// failure is one way in which a value breaks a schema. Rule is the keyword; that of a group, whose
// causes are to be reported instead of it, is "".
type failure struct {
	rule    string
	node    *node
	path    []token
	value   any        // for type and format
	names   []string   // of members
	because string     // the member that makes these names necessary
	got     int        // a size, or the index of an item
	want    int        // its bound, or the index of another item
	bound   *big.Rat   // of a number
	causes  []*failure // of a group; for anyOf and oneOf one for each alternative
}

// describe returns what a failure of one value says that has no causes to be reported instead.
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
		return "has no item of the kind that must be among its items"
	case "minContains":
		return fmt.Sprintf("has %d items of the kind of which it needs at least %d", f.got, f.want)
	case "maxContains":
		return fmt.Sprintf("has %d items of the kind of which it may have at most %d", f.got, f.want)
	case "not":
		return "is what the schema excludes"
	case "false":
		return "is not allowed here"
	case "dependencies":
		return fmt.Sprintf("needs %s where %s is given", strings.Join(f.names, ", "), quoted(f.because))
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

// boundWords say what the keywords that bound a number ask for.
var boundWords = map[string]string{
	"minimum": "must be at least ", "maximum": "must be at most ", "multipleOf": "must be a multiple of ",
	"exclusiveMinimum": "must be more than ", "exclusiveMaximum": "must be less than ",
}

// sizeWords say what the keywords that bound a size ask for.
var sizeWords = map[string]struct{ bound, one, many string }{
	"minLength": {"at least", "character", "characters"}, "maxLength": {"at most", "character", "characters"},
	"minItems": {"at least", "item", "items"}, "maxItems": {"at most", "item", "items"},
	"minProperties": {"at least", "property", "properties"}, "maxProperties": {"at most", "property", "properties"},
}

// formatNoun says what a format asks for. That of a regular expression says what is wrong with it.
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

// oneOf joins alternatives, of which it names no more than maxShown.
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

// show returns a value as a message names it.
func show(v any) string {
	if text, ok := v.(string); ok {
		return quoted(text)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "what the schema says" // no value of a schema is of a type that has no JSON
	}
	return shorten(string(text))
}

func quoted(text string) string { return strconv.Quote(shorten(text)) }

// shorten cuts a text off after maxShown characters.
func shorten(text string) string {
	characters := []rune(text)
	if len(characters) <= maxShown {
		return text
	}
	return string(characters[:maxShown]) + "…"
}

// decimal returns a number of a schema.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return shorten(r.Num().String())
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
