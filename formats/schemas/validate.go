package schemas

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
)

const (
	// MaxProblems bounds the problems that Validate returns.
	MaxProblems = 100

	// maxCollected bounds the problems that are collected and sorted. If a value has more, the
	// returned ones are arbitrary.
	maxCollected = 5000
)

// Rules of problems that are not keywords of JSON Schema.
const (
	RuleSteps = "steps" // the validation was aborted, without a verdict
	RuleJSON  = "json"  // the text is not JSON, or too large
)

// Problem is one way in which a value violates a schema.
type Problem struct {
	Path    string // JSON pointer into the value; for a missing part, where it would be
	Rule    string // the keyword of the schema, such as "required" or "maximum", or one of the rules of this package
	Message string // the problem in English, to follow the name of the property: "is not a number"
}

// Validate validates the text of a value and returns its problems sorted by path, at most
// MaxProblems. A valid value has no problems. When ctx ends, or after MaxSteps, the only problem is
// RuleSteps.
func (s *Schema) Validate(ctx context.Context, text []byte) []Problem {
	value, err := decode(text, limits{bytes: MaxValue, what: "value"})
	var wrong *Error
	if errors.As(err, &wrong) {
		return []Problem{{Path: wrong.Path, Rule: RuleJSON, Message: wrong.Message}}
	}
	found, err := evaluate(ctx, s.root, value.value, MaxSteps)
	if err != nil {
		return []Problem{{Rule: RuleSteps, Message: "cannot be checked in the available time: the schema and the value are too large together"}}
	}
	return found
}

// Missing returns the JSON pointers of the properties that the schema requires, at any depth, and
// that the value lacks. It returns nothing if the value cannot be read or checked; Validate reports
// that.
func (s *Schema) Missing(ctx context.Context, text []byte) []string {
	return Missing(s.Validate(ctx, text))
}

// Missing returns the paths of the problems that are missing properties, each once.
func Missing(problems []Problem) []string {
	var paths []string
	for _, p := range problems {
		if p.Rule == "required" || p.Rule == "dependentRequired" {
			paths = append(paths, p.Path)
		}
	}
	return slices.Compact(paths) // problems are sorted by their paths
}

// problemsOf returns the problems of failures, sorted, since the order of maps is random.
func problemsOf(found []*failure) []Problem {
	var all []Problem
	for _, f := range found {
		f.collect(&all)
	}
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	all = slices.Compact(all)
	return all[:min(len(all), MaxProblems)]
}

// collect appends the problems of a failure.
func (f *failure) collect(all *[]Problem) {
	if len(*all) >= maxCollected {
		return
	}
	path := pathOf(f.path)
	add := func(path, message string) { *all = append(*all, Problem{path, f.rule, message}) }
	each := func(message string) {
		for _, name := range f.names[:min(len(f.names), maxCollected)] {
			add(path+"/"+escapePointer(name), message)
		}
	}
	switch f.rule {
	case "":
		for _, cause := range f.causes {
			cause.collect(all)
		}
	case "oneOf", "anyOf":
		if len(f.causes) > 0 {
			f.collectAlternatives(path, all)
			return
		}
		add(path, "matches more than one of the alternatives, and must match only one")
	case "required":
		each("is missing")
	case "dependentRequired":
		each("is missing, but required if " + quoted(f.because) + " is given")
	case "additionalProperties":
		each("is not a property that the schema knows")
	case "propertyNames":
		each("is not a name that the schema allows")
	default:
		add(path, f.describe())
	}
}

// pathOf returns a path as a JSON pointer.
func pathOf(path []token) string {
	var b strings.Builder
	for _, t := range path {
		b.WriteByte('/')
		if t.isItem {
			b.WriteString(strconv.Itoa(t.index))
		} else {
			b.WriteString(escapePointer(t.name))
		}
	}
	return b.String()
}

// collectAlternatives appends the problems of a value that matches none of several schemas. They
// are the problems of the only schema for its type, the valid values, or one problem that no schema
// matches.
func (f *failure) collectAlternatives(path string, all *[]Problem) {
	var ofType []*failure
	var types, values []string
	for _, cause := range f.causes {
		here := len(cause.path) == len(f.path)
		switch {
		case here && cause.rule == "type":
			types = append(types, cause.node.types.words()...)
		case here && cause.rule == "const":
			values = append(values, show(*cause.node.constant))
		default:
			ofType = append(ofType, cause)
		}
	}
	switch {
	case len(ofType) == 1 && len(values) == 0:
		ofType[0].collect(all)
	case len(types) == len(f.causes):
		*all = append(*all, Problem{path, "type", "must be " + oneOf(typeNames(types))})
	case len(values) == len(f.causes):
		*all = append(*all, Problem{path, f.rule, "must be " + oneOf(values)})
	default:
		*all = append(*all, Problem{path, f.rule, "matches none of the alternatives that the schema allows"})
	}
}
