package schemas

import (
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// graph is a compiled schema with all that it leads to.
type graph struct {
	schemas     []*jsonschema.Schema            // each once
	anchored    map[string][]*jsonschema.Schema // those that a $dynamicRef may lead to, by anchor
	chain       int                             // the most schemas that apply to one value through each other
	unevaluated bool                            // whether the library keeps account of what was evaluated
}

// newGraph collects what the roots lead to.
func newGraph(roots []*jsonschema.Schema) *graph {
	g := &graph{anchored: map[string][]*jsonschema.Schema{}}
	known := map[*jsonschema.Schema]bool{nil: true}
	for next := roots; len(next) > 0; {
		s := next[len(next)-1]
		next = next[:len(next)-1]
		if known[s] {
			continue
		}
		known[s] = true
		g.schemas = append(g.schemas, s)
		if s.DynamicAnchor != "" {
			g.anchored[s.DynamicAnchor] = append(g.anchored[s.DynamicAnchor], s)
		}
		g.unevaluated = g.unevaluated || s.UnevaluatedItems != nil || s.UnevaluatedProperties != nil
		next = append(append(next, inPlace(s)...), within(s)...)
	}
	return g
}

// inPlace returns the schemas that s applies to the value itself, without those that only the anchor of a $dynamicRef leads to. Some are nil.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	for _, dependency := range s.Dependencies {
		if d, ok := dependency.(*jsonschema.Schema); ok {
			all = append(all, d)
		}
	}
	all = append(all, slices.Collect(maps.Values(s.DependentSchemas))...)
	return slices.Concat(all, s.AllOf, s.AnyOf, s.OneOf)
}

// within returns the schemas that s applies to parts of the value: members, their names, and items. Some are nil.
func within(s *jsonschema.Schema) []*jsonschema.Schema {
	all := append(items(s), members(s)...)
	all = append(all, slices.Collect(maps.Values(s.Properties))...)
	all = append(all, slices.Collect(maps.Values(s.PatternProperties))...)
	return append(all, s.PrefixItems...)
}

// items returns the schemas that s applies to every item of an array. Some are nil.
func items(s *jsonschema.Schema) []*jsonschema.Schema {
	return []*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems}
}

// members returns the schemas that s may apply to every member of an object. Some are nil.
func members(s *jsonschema.Schema) []*jsonschema.Schema {
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	return []*jsonschema.Schema{additional, s.PropertyNames, s.UnevaluatedProperties}
}

// check refuses a schema that is of another draft, that applies itself to the same value again, or whose chains are too long.
func (g *graph) check() error {
	lengths := map[*jsonschema.Schema]int{}
	for _, s := range g.schemas {
		if s.DraftVersion != 2020 {
			return &Error{Path: pointerIn(s.Location), Rule: "$schema", Message: "only JSON Schema 2020-12 is known"}
		}
		length, err := g.chainFrom(s, lengths)
		if err != nil {
			return err
		}
		g.chain = max(g.chain, length)
	}
	if g.chain > MaxChain {
		return &Error{Rule: "depth", Message: fmt.Sprintf("up to %d schemas apply to one value through each other, and %d may", g.chain, MaxChain)}
	}
	return nil
}

// chainFrom returns the length of the longest chain of schemas that s begins and that apply to one value. In lengths, what is under way is -1.
func (g *graph) chainFrom(s *jsonschema.Schema, lengths map[*jsonschema.Schema]int) (int, error) {
	switch length := lengths[s]; {
	case length < 0:
		return 0, &Error{Path: pointerIn(s.Location), Rule: "cycle", Message: "this schema refers to itself for the same value, not for a part of it"}
	case length > 0:
		return length, nil
	}
	lengths[s] = -1
	longest := 0
	next := inPlace(s)
	if s.DynamicRef != nil {
		next = append(next, g.anchored[s.DynamicRef.Anchor]...)
	}
	for _, sub := range next {
		if sub == nil {
			continue
		}
		length, err := g.chainFrom(sub, lengths)
		if err != nil {
			return 0, err
		}
		longest = max(longest, length)
	}
	lengths[s] = longest + 1
	return longest + 1, nil
}
