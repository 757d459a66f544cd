package schemas_test

import (
	"fmt"
	"math/rand/v2"
)

// generator generates random schemas, and values of which about half are valid.
type generator struct{ *rand.Rand }

// members is the JSON object of schemas and values.
type members = map[string]any

var (
	someNames   = []any{"a", "b", "c", "ab"}
	someNumbers = []any{0, 1, 2, 3, 10, -1, 1.5, 0.1, 2.0, 1e3}
	someTexts   = []any{"", "a", "b", "ab", "äö", "2026-01-31", "2026-02-30", "2026-01-31T10:00:00Z", "me@example.org", "https://example.org/a?b#c", "127.0.0.1", "x y"}
	somePattern = []any{"^a", "b$", "^[a-c]*$", "^.{2}$", "[0-9]+", "^$", "a|ö"}
	someFormats = []any{"date", "date-time", "email", "ipv4", "uri"}
	someTypes   = []any{"string", "number", "integer", "boolean", "null", "object", "array"}
)

func pick[T any](g generator, of []T) T { return of[g.IntN(len(of))] }

// definitions is the number of schemas below $defs.
const definitions = 3

// pair returns a schema and a value for it.
func (g generator) pair() pair {
	definitionsOf := members{}
	for i := range definitions {
		definitionsOf[fmt.Sprint("d", i)] = g.schema(2, i+1, false)
	}
	root := members{}
	for len(root) == 0 || g.IntN(4) > 0 && len(root) < 6 {
		g.keyword(root, 3, 0, false)
	}
	root["$defs"], root["$dynamicAnchor"] = definitionsOf, "node"
	if g.IntN(2) == 0 {
		root["type"] = pick(g, []any{"object", "array"})
	}
	guided := guide{g, definitionsOf, root}
	return pair{root, guided.value(root, 5)}
}

// schema returns a schema of at most depth levels. For the same value, it refers only to
// definitions with greater numbers than the given one, so that no schema applies itself. Within a
// part of the value, it may refer to all definitions.
func (g generator) schema(depth, after int, part bool) any {
	if g.IntN(20) == 0 {
		return g.IntN(3) > 0
	}
	s := members{}
	for len(s) == 0 || g.IntN(3) > 0 && len(s) < 4 {
		g.keyword(s, depth, after, part)
	}
	return s
}

// keyword adds one keyword, or several that belong together.
func (g generator) keyword(s members, depth, after int, part bool) {
	if depth == 0 {
		pick(g, leaves)(g, s)
		return
	}
	if g.IntN(2) == 0 {
		pick(g, leaves)(g, s)
		return
	}
	same := func() any { return g.schema(depth-1, after, false) }
	within := func() any { return g.schema(depth-1, 0, true) }
	pick(g, []func(){
		func() { s["properties"] = members{"a": within(), "b": within()} },
		func() { s["properties"] = members{"c": within()} },
		func() { s["patternProperties"] = members{pick(g, somePattern).(string): within()} },
		func() { s["additionalProperties"] = within() },
		func() { s["propertyNames"] = members{"pattern": pick(g, somePattern)} },
		func() { s["unevaluatedProperties"] = within() },
		func() { s["unevaluatedItems"] = within() },
		func() { s["items"] = within() },
		func() { s["prefixItems"] = []any{within(), within()} },
		func() { s["contains"], s["minContains"] = within(), g.IntN(3) },
		func() { s["contains"], s["maxContains"] = within(), 1+g.IntN(2) },
		func() { s["allOf"] = []any{same(), same()} },
		func() { s["anyOf"] = []any{same(), same()} },
		func() { s["oneOf"] = []any{same(), same()} },
		func() { s["not"] = same() },
		func() { s["if"], s["then"], s["else"] = same(), same(), same() },
		func() { s["dependentSchemas"] = members{pick(g, someNames).(string): same()} },
		func() { g.reference(s, after, part) },
	})()
}

// reference adds a reference.
func (g generator) reference(s members, after int, part bool) {
	switch {
	case part && g.IntN(4) == 0:
		s["$ref"] = "#"
	case part && g.IntN(4) == 0:
		s["$dynamicRef"] = "#node"
	case part:
		s["$ref"] = fmt.Sprint("#/$defs/d", g.IntN(definitions))
	case after < definitions:
		s["$ref"] = fmt.Sprint("#/$defs/d", after+g.IntN(definitions-after))
	default:
		s["type"] = pick(g, someTypes)
	}
}

// leaves add keywords without subschemas.
var leaves = []func(g generator, s members){
	func(g generator, s members) { s["type"] = pick(g, someTypes) },
	func(g generator, s members) { s["type"] = pick(g, someTypes) },
	func(g generator, s members) { s["type"] = []any{"string", pick(g, someTypes[1:])} },
	func(g generator, s members) { s["const"] = g.scalar() },
	func(g generator, s members) { s["enum"] = []any{g.scalar(), []any{1}, members{"a": 1}} },
	func(g generator, s members) { s["minimum"] = pick(g, someNumbers) },
	func(g generator, s members) { s["maximum"] = pick(g, someNumbers) },
	func(g generator, s members) { s["exclusiveMinimum"] = pick(g, someNumbers) },
	func(g generator, s members) { s["exclusiveMaximum"] = pick(g, someNumbers) },
	func(g generator, s members) { s["multipleOf"] = pick(g, []any{1, 2, 0.5, 0.1}) },
	func(g generator, s members) { s["minLength"] = g.IntN(3) },
	func(g generator, s members) { s["maxLength"] = g.IntN(12) },
	func(g generator, s members) { s["pattern"] = pick(g, somePattern) },
	func(g generator, s members) { s["format"] = pick(g, someFormats) },
	func(g generator, s members) { s["minItems"] = g.IntN(3) },
	func(g generator, s members) { s["maxItems"] = g.IntN(4) },
	func(g generator, s members) { s["uniqueItems"] = true },
	func(g generator, s members) { s["minProperties"] = g.IntN(3) },
	func(g generator, s members) { s["maxProperties"] = g.IntN(4) },
	func(g generator, s members) { s["required"] = []any{pick(g, someNames)} },
	func(g generator, s members) {
		s["dependentRequired"] = members{pick(g, someNames).(string): []any{pick(g, someNames)}}
	},
}

func (g generator) scalar() any {
	return pick(g, []any{nil, true, false, pick(g, someNumbers), pick(g, someNumbers), pick(g, someTexts), pick(g, someTexts)})
}

// guide generates values that match a schema more often than random values.
type guide struct {
	generator
	definitions members
	root        any
}

// value returns a value that roughly follows the schema.
func (g guide) value(schema any, depth int) any {
	s, ok := schema.(members)
	if !ok || depth == 0 || g.IntN(12) == 0 {
		return g.any(depth)
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if e, ok := s["enum"].([]any); ok {
		return pick(g.generator, e)
	}
	if name, ok := s["$ref"].(string); ok && len(s) == 1 {
		if name == "#" {
			return g.value(g.root, depth-1)
		}
		return g.value(g.definitions[name[len("#/$defs/"):]], depth-1)
	}
	for _, alternatives := range []string{"allOf", "anyOf", "oneOf"} {
		if all, ok := s[alternatives].([]any); ok && g.IntN(2) == 0 {
			return g.value(pick(g.generator, all), depth-1)
		}
	}
	kind, _ := s["type"].(string)
	if kind == "" {
		kind = g.likely(s)
	}
	return g.ofType(kind, s, depth)
}

// likely returns the type for which the schema has a keyword.
func (g guide) likely(s members) string {
	for _, c := range []struct{ keyword, kind string }{
		{"properties", "object"}, {"patternProperties", "object"}, {"additionalProperties", "object"}, {"required", "object"}, {"unevaluatedProperties", "object"},
		{"dependentSchemas", "object"}, {"items", "array"}, {"prefixItems", "array"}, {"contains", "array"}, {"unevaluatedItems", "array"}, {"uniqueItems", "array"},
		{"pattern", "string"}, {"format", "string"}, {"maxLength", "string"}, {"minimum", "number"}, {"multipleOf", "number"},
	} {
		if _, ok := s[c.keyword]; ok {
			return c.kind
		}
	}
	return pick(g.generator, someTypes).(string)
}

func (g guide) ofType(kind string, s members, depth int) any {
	switch kind {
	case "object":
		return g.object(s, depth)
	case "array":
		array := []any{}
		first, _ := s["prefixItems"].([]any)
		for i := range g.IntN(4) {
			item := s["items"]
			if i < len(first) {
				item = first[i]
			}
			array = append(array, g.value(item, depth-1))
		}
		return array
	case "number":
		return pick(g.generator, someNumbers)
	case "integer":
		return g.IntN(12)
	case "boolean":
		return g.IntN(2) == 0
	case "null":
		return nil
	}
	return pick(g.generator, someTexts)
}

func (g guide) object(s members, depth int) any {
	object := members{}
	properties, _ := s["properties"].(members)
	for _, name := range someNames {
		if property, ok := properties[name.(string)]; ok && g.IntN(4) > 0 {
			object[name.(string)] = g.value(property, depth-1)
		} else if g.IntN(4) == 0 {
			object[name.(string)] = g.value(s["additionalProperties"], depth-1)
		}
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := object[name.(string)]; !ok && g.IntN(5) > 0 {
			object[name.(string)] = g.any(1)
		}
	}
	return object
}

// any returns a value of any kind.
func (g guide) any(depth int) any {
	if depth > 0 && g.IntN(3) == 0 {
		return g.ofType(pick(g.generator, []string{"object", "array"}), nil, depth-1)
	}
	return g.scalar()
}
