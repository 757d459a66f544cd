package schemas_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"labshelf/formats/schemas"
)

// oracle is a schema that an independent library has compiled. It gives the expected results. It
// has no limits, so tests only pass it input that this package can process within its limits.
type oracle struct{ root *jsonschema.Schema }

// noLoader rejects every document outside of the schema.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, errors.New("not part of this schema") }

const oracleAddress = "labshelf:///schema"

// consult compiles a schema. The error is a *schemas.Error, which has no message for references.
func consult(text []byte) (oracle, error) {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return oracle{}, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	for _, name := range []string{"uri-template", "period", "semver"} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(oracleAddress, v); err != nil {
		return oracle{}, err
	}
	root, err := c.Compile(oracleAddress)
	var invalid *jsonschema.SchemaValidationError
	var found *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &found) {
		first := problemsOf(found)[0]
		_, pointer, _ := strings.Cut(invalid.URL, "#")
		if pointer, err = url.PathUnescape(pointer); err != nil {
			return oracle{}, err
		}
		return oracle{}, &schemas.Error{Path: pointer + first.Path, Rule: first.Rule, Message: first.Message}
	}
	if err != nil {
		return oracle{}, &schemas.Error{Rule: "reference"}
	}
	return oracle{root}, nil
}

// validate returns the problems of a value.
func (o oracle) validate(text []byte) ([]schemas.Problem, error) {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		return nil, err
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(o.root.Validate(v), &invalid) {
		return nil, nil
	}
	return problemsOf(invalid), nil
}

func problemsOf(e *jsonschema.ValidationError) []schemas.Problem {
	all := problemsIn(e)
	slices.SortFunc(all, func(a, b schemas.Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	all = slices.Compact(all)
	return all[:min(len(all), schemas.MaxProblems)]
}

// problemsIn converts an error of the library to problems in the wording of this package.
func problemsIn(e *jsonschema.ValidationError) (all []schemas.Problem) {
	path := ""
	for _, name := range e.InstanceLocation {
		path += "/" + escaped(name)
	}
	each := func(names []string, rule, message string) {
		for _, name := range names {
			all = append(all, schemas.Problem{Path: path + "/" + escaped(name), Rule: rule, Message: message})
		}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			all = append(all, problemsIn(cause)...)
		}
	case *kind.AnyOf:
		return alternatives(e, path, "anyOf")
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return alternatives(e, path, "oneOf")
		}
		all = append(all, schemas.Problem{Path: path, Rule: "oneOf", Message: "matches more than one of the alternatives, and must match only one"})
	case *kind.Required:
		each(k.Missing, "required", "is missing")
	case *kind.DependentRequired:
		each(k.Missing, "dependentRequired", "is missing, but required if "+quote(k.Prop)+" is given")
	case *kind.AdditionalProperties:
		each(k.Properties, "additionalProperties", "is not a property that the schema knows")
	case *kind.PropertyNames:
		each([]string{k.Property}, "propertyNames", "is not a name that the schema allows")
	default:
		rule, message := words(e.ErrorKind)
		all = append(all, schemas.Problem{Path: path, Rule: rule, Message: message})
	}
	return all
}

// alternatives returns the problems of a value that matches none of several schemas.
func alternatives(e *jsonschema.ValidationError, path, rule string) []schemas.Problem {
	var others []*jsonschema.ValidationError
	var types, values []string
	for _, cause := range e.Causes {
		here := len(cause.InstanceLocation) == len(e.InstanceLocation)
		switch k := cause.ErrorKind.(type) {
		case *kind.Type:
			if here {
				types = append(types, k.Want...)
				continue
			}
		case *kind.Const:
			if here {
				values = append(values, show(k.Want))
				continue
			}
		}
		others = append(others, cause)
	}
	switch {
	case len(others) == 1 && len(values) == 0:
		return problemsIn(others[0])
	case len(types) == len(e.Causes):
		return []schemas.Problem{{Path: path, Rule: "type", Message: "must be " + either(typeWords(types))}}
	case len(values) == len(e.Causes):
		return []schemas.Problem{{Path: path, Rule: rule, Message: "must be " + either(values)}}
	}
	return []schemas.Problem{{Path: path, Rule: rule, Message: "matches none of the alternatives that the schema allows"}}
}

// words returns the keyword and the message of an error about one value.
func words(k jsonschema.ErrorKind) (rule, message string) {
	size := func(rule, bound string, want, got int, noun, nouns string) (string, string) {
		if want == 1 {
			nouns = noun
		}
		return rule, fmt.Sprintf("must have %s %d %s, and has %d", bound, want, nouns, got)
	}
	switch k := k.(type) {
	case *kind.Type:
		return "type", fmt.Sprintf("must be %s, not %s", either(typeWords(k.Want)), typeWords([]string{k.Got})[0])
	case *kind.Enum:
		var values []string
		for _, v := range k.Want {
			values = append(values, show(v))
		}
		return "enum", "must be " + either(values)
	case *kind.Const:
		return "const", "must be " + show(k.Want)
	case *kind.Format:
		return "format", "must be "
	case *kind.Pattern:
		return "pattern", "must match the regular expression " + k.Want
	case *kind.UniqueItems:
		return "uniqueItems", fmt.Sprintf("has the same item twice, as number %d and number %d", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.Contains:
		return "contains", "has no item that matches the schema of contains"
	case *kind.MinContains:
		return "minContains", fmt.Sprintf("has %d items that match the schema of contains, but requires at least %d", len(k.Got), k.Want)
	case *kind.MaxContains:
		return "maxContains", fmt.Sprintf("has %d items that match the schema of contains, but allows at most %d", len(k.Got), k.Want)
	case *kind.Not:
		return "not", "has a value that the schema excludes"
	case *kind.FalseSchema:
		return "false", "is not allowed here"
	case *kind.Dependency:
		return "dependencies", fmt.Sprintf("requires %s if %s is given", strings.Join(k.Missing, ", "), quote(k.Prop))
	case *kind.MinLength:
		return size("minLength", "at least", k.Want, k.Got, "character", "characters")
	case *kind.MaxLength:
		return size("maxLength", "at most", k.Want, k.Got, "character", "characters")
	case *kind.MinItems:
		return size("minItems", "at least", k.Want, k.Got, "item", "items")
	case *kind.MaxItems:
		return size("maxItems", "at most", k.Want, k.Got, "item", "items")
	case *kind.MinProperties:
		return size("minProperties", "at least", k.Want, k.Got, "property", "properties")
	case *kind.MaxProperties:
		return size("maxProperties", "at most", k.Want, k.Got, "property", "properties")
	}
	return bounds(k)
}

// bounds is like words, for the keywords that limit a number.
func bounds(k jsonschema.ErrorKind) (rule, message string) {
	decimal := func(r *big.Rat) string {
		if r.IsInt() {
			return shorten(r.Num().String())
		}
		f, _ := r.Float64()
		return strconv.FormatFloat(f, 'g', -1, 64)
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
	}
	return fmt.Sprintf("%T", k), ""
}

func typeWords(types []string) (words []string) {
	for _, t := range types {
		word := map[string]string{
			"null": "empty (null)", "boolean": "true or false", "number": "a number", "integer": "a whole number", "string": "a text",
			"array": "a list", "object": "a group of properties",
		}[t]
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

func either(words []string) string {
	const most = 40
	if len(words) > most {
		return fmt.Sprintf("one of %s and %d more", strings.Join(words[:most], ", "), len(words)-most)
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

func show(v any) string {
	if text, ok := v.(string); ok {
		return quote(text)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return shorten(string(text))
}

func quote(text string) string { return strconv.Quote(shorten(text)) }

func shorten(text string) string {
	characters := []rune(text)
	if len(characters) <= 40 {
		return text
	}
	return string(characters[:40]) + "…"
}

func escaped(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
