package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxShown bounds the choices, and the characters of each, that a message names.
const maxShown = 40

// nouns are the types of JSON in the words of people who fill in forms.
var nouns = map[string]string{
	"null": "empty (null)", "boolean": "true or false", "number": "a number", "integer": "a whole number", "string": "a text",
	"array": "a list", "object": "a group of properties",
}

// describe returns the keyword and the message of an error that is about one value and has no causes to be told instead.
func describe(k jsonschema.ErrorKind) (rule, message string) {
	switch k := k.(type) {
	case *kind.Type:
		return "type", fmt.Sprintf("must be %s, not %s", oneOf(typeNames(k.Want)), nouns[k.Got])
	case *kind.Enum:
		return "enum", "must be " + oneOf(shown(k.Want))
	case *kind.Const:
		return "const", "must be " + show(k.Want)
	case *kind.Format:
		return "format", "must be " + formatNoun(k)
	case *kind.Pattern:
		return "pattern", "must match the regular expression " + k.Want
	case *kind.UniqueItems:
		return "uniqueItems", fmt.Sprintf("has the same item twice, as number %d and number %d", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.Contains:
		return "contains", "has no item of the kind that must be among its items"
	case *kind.MinContains:
		return "minContains", fmt.Sprintf("has %d items of the kind of which it needs at least %d", len(k.Got), k.Want)
	case *kind.MaxContains:
		return "maxContains", fmt.Sprintf("has %d items of the kind of which it may have at most %d", len(k.Got), k.Want)
	case *kind.Not:
		return "not", "is what the schema excludes"
	case *kind.FalseSchema:
		return "false", "is not allowed here"
	case *kind.Dependency:
		return "dependencies", fmt.Sprintf("needs %s where %s is given", strings.Join(k.Missing, ", "), quoted(k.Prop))
	case *kind.RefCycle:
		return "cycle", "cannot be checked: the schema refers to itself"
	}
	return describeBound(k)
}

// describeBound is describe for keywords that bound a number or a size.
func describeBound(k jsonschema.ErrorKind) (rule, message string) {
	size := func(one, many, word string, want, got int) string {
		if want == 1 {
			many = one
		}
		return fmt.Sprintf("must have %s %d %s, and has %d", word, want, many, got)
	}
	switch k := k.(type) {
	case *kind.Minimum:
		return "minimum", "must be at least " + decimal(k.Want)
	case *kind.Maximum:
		return "maximum", "must be at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "exclusiveMinimum", "must be more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "exclusiveMaximum", "must be less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "multipleOf", "must be a multiple of " + decimal(k.Want)
	case *kind.MinLength:
		return "minLength", size("character", "characters", "at least", k.Want, k.Got)
	case *kind.MaxLength:
		return "maxLength", size("character", "characters", "at most", k.Want, k.Got)
	case *kind.MinItems:
		return "minItems", size("item", "items", "at least", k.Want, k.Got)
	case *kind.MaxItems:
		return "maxItems", size("item", "items", "at most", k.Want, k.Got)
	case *kind.MinProperties:
		return "minProperties", size("property", "properties", "at least", k.Want, k.Got)
	case *kind.MaxProperties:
		return "maxProperties", size("property", "properties", "at most", k.Want, k.Got)
	}
	return strings.Join(k.KeywordPath(), "/"), "is not what the schema asks for"
}

// formatNoun says what a format asks for. That of a schema's regular expression says why it is none.
func formatNoun(k *kind.Format) string {
	if noun := formatNouns[k.Want]; noun != "" {
		return noun
	}
	if k.Want == "regex" && k.Err != nil {
		return "a regular expression: " + k.Err.Error()
	}
	return "of the format " + k.Want
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

// fromLibrary returns an error of compiling as an *Error.
func fromLibrary(err error) error {
	var invalid *jsonschema.SchemaValidationError
	var found *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &found) {
		first := problems(found)[0]
		return &Error{Path: pointerIn(invalid.URL) + first.Path, Rule: first.Rule, Message: first.Message}
	}
	var loading *jsonschema.LoadURLError
	if errors.As(err, &loading) {
		return &Error{Rule: "reference", Message: loading.Err.Error()}
	}
	var expression *jsonschema.InvalidRegexError
	if errors.As(err, &expression) {
		return &Error{Path: pointerIn(expression.URL), Rule: "pattern", Message: fmt.Sprintf("%s is no regular expression: %v", quoted(expression.Regex), expression.Err)}
	}
	return &Error{Rule: "reference", Message: strings.ReplaceAll(err.Error(), address, "")}
}
