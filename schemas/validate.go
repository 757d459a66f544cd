package schemas

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	MaxProblems = 100 // that Validate returns

	// maxCollected bounds the problems of which those are the first. With more, it is by chance which are among them.
	maxCollected = 5000
)

// Rules of problems that are no keywords of JSON Schema.
const (
	RuleSteps = "steps" // the validation was given up: nothing is known about the value
	RuleJSON  = "json"  // the text is not JSON, or too large
)

// Problem is one way in which a value is not what a schema asks for.
type Problem struct {
	Path    string // JSON pointer into the value; of what is missing, where it would be
	Rule    string // the keyword of the schema, such as "required" or "maximum", or one of the rules of this package
	Message string // what is wrong, in English, to be read after the name of the property: "is not a number"
}

// Validate validates the text of a value and returns its problems by path, at most MaxProblems of them; without any, it is valid. When ctx
// ends, or MaxSteps are taken, the one problem is that of RuleSteps.
func (s *Schema) Validate(ctx context.Context, text []byte) []Problem {
	value, err := decode(text, limits{bytes: MaxValue, what: "value"})
	var wrong *Error
	if errors.As(err, &wrong) {
		return []Problem{{Path: wrong.Path, Rule: RuleJSON, Message: wrong.Message}}
	}
	p := s.program()
	defer s.programs.Put(p)
	err = p.run(ctx, value.value)
	if errors.Is(err, errSteps) {
		return []Problem{{Rule: RuleSteps, Message: "cannot be checked in the time that a check may take: the schema and the value are too large together"}}
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil
	}
	return problems(invalid)
}

// Missing returns the JSON pointers of the properties that the schema requires, at any depth, and that the value does not have. It returns
// none when the value cannot be read or checked: Validate says so.
func (s *Schema) Missing(ctx context.Context, text []byte) []string {
	return Missing(s.Validate(ctx, text))
}

// Missing returns the paths of the problems that are properties which are not there, each once.
func Missing(problems []Problem) []string {
	var paths []string
	for _, p := range problems {
		if p.Rule == "required" || p.Rule == "dependentRequired" {
			paths = append(paths, p.Path)
		}
	}
	return slices.Compact(paths) // problems are in the order of their paths
}

// problems returns what the library found, in an order that does not depend on that of maps.
func problems(invalid *jsonschema.ValidationError) []Problem {
	var all []Problem
	collect(invalid, &all)
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	all = slices.Compact(all)
	return all[:min(len(all), MaxProblems)]
}

// collect appends the problems of an error of the library.
func collect(e *jsonschema.ValidationError, all *[]Problem) {
	if len(*all) >= maxCollected {
		return
	}
	path := pointerTo(e.InstanceLocation)
	add := func(path, rule, message string) { *all = append(*all, Problem{path, rule, message}) }
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, cause := range e.Causes {
			collect(cause, all)
		}
	case *kind.AnyOf:
		collectAlternatives(e, path, "anyOf", all)
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			add(path, "oneOf", "fits more than one of the alternatives, and must fit one only")
			return
		}
		collectAlternatives(e, path, "oneOf", all)
	case *kind.Required:
		for _, name := range k.Missing[:min(len(k.Missing), maxCollected)] {
			add(path+"/"+escapePointer(name), "required", "is missing")
		}
	case *kind.DependentRequired:
		for _, name := range k.Missing {
			add(path+"/"+escapePointer(name), "dependentRequired", "is missing, and needed where "+quoted(k.Prop)+" is given")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			add(path+"/"+escapePointer(name), "additionalProperties", "is not a property that the schema knows")
		}
	case *kind.PropertyNames:
		add(path+"/"+escapePointer(k.Property), "propertyNames", "is not a name that the schema allows")
	default:
		rule, message := describe(e.ErrorKind)
		add(path, rule, message)
	}
}

// collectAlternatives appends the problems of a value that fits none of several schemas: those of the only one that is of its type, or the
// values that the schemas are for, or that none fits.
func collectAlternatives(e *jsonschema.ValidationError, path, rule string, all *[]Problem) {
	var ofType []*jsonschema.ValidationError
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
		ofType = append(ofType, cause)
	}
	switch {
	case len(ofType) == 1 && len(values) == 0:
		collect(ofType[0], all)
	case len(types) == len(e.Causes):
		*all = append(*all, Problem{path, "type", "must be " + oneOf(typeNames(types))})
	case len(values) == len(e.Causes):
		*all = append(*all, Problem{path, rule, "must be " + oneOf(values)})
	default:
		*all = append(*all, Problem{path, rule, "fits none of the alternatives that the schema allows"})
	}
}
