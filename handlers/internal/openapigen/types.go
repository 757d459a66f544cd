package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// generateTypes writes the schemas of the document source as TypeScript types to target.
func generateTypes(source, target string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("read the source: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	schemas := member(member(document.Content[0], "components"), "schemas")
	if schemas == nil {
		return fmt.Errorf("%s: there are no schemas", source)
	}
	out := bytes.NewBufferString("// Made from handlers/openapi.yaml by go generate: the objects of the interface, which that document explains. Do not edit.\n")
	for name, schema := range members(schemas) {
		fmt.Fprintf(out, "\nexport type %s = %s;\n", name, typeOf(schema, ""))
	}
	if err := os.WriteFile(target, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the target: %w", err)
	}
	return nil
}

// members iterates over the members of an object, in order. A nil object has no members.
func members(object *yaml.Node) func(yield func(name string, value *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		if object == nil {
			return
		}
		for i := 0; i+1 < len(object.Content); i += 2 {
			if !yield(object.Content[i].Value, object.Content[i+1]) {
				return
			}
		}
	}
}

// member returns a member of an object, or nil.
func member(object *yaml.Node, name string) *yaml.Node {
	for of, value := range members(object) {
		if of == name {
			return value
		}
	}
	return nil
}

// typeOf returns the TypeScript type of a schema. It omits rules that a type cannot express, such
// as a length.
func typeOf(schema *yaml.Node, indent string) string {
	if ref := member(schema, "$ref"); ref != nil {
		return ref.Value[strings.LastIndexByte(ref.Value, '/')+1:]
	}
	if value := member(schema, "const"); value != nil {
		return literal(value)
	}
	if values := member(schema, "enum"); values != nil {
		return union(values.Content, literal)
	}
	for _, word := range []string{"oneOf", "anyOf"} {
		if some := member(schema, word); some != nil && member(schema, "properties") == nil {
			return union(some.Content, func(n *yaml.Node) string { return typeOf(n, indent) })
		}
	}
	kind := member(schema, "type")
	if kind == nil {
		return "unknown"
	}
	if kind.Kind == yaml.SequenceNode {
		return union(kind.Content, func(n *yaml.Node) string { return typeNamed(n.Value, schema, indent) })
	}
	return typeNamed(kind.Value, schema, indent)
}

// typeNamed returns the TypeScript type for one of the types of a schema.
func typeNamed(kind string, schema *yaml.Node, indent string) string {
	switch kind {
	case "integer":
		return "number"
	case "array":
		item := "unknown"
		if items := member(schema, "items"); items != nil {
			item = typeOf(items, indent)
		}
		if strings.Contains(item, " | ") && !strings.HasPrefix(item, "{") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return object(schema, indent)
	}
	return kind
}

// object returns the TypeScript type of an object.
func object(schema *yaml.Node, indent string) string {
	properties := member(schema, "properties")
	if properties == nil {
		value := "unknown"
		if more := member(schema, "additionalProperties"); more != nil && more.Kind == yaml.MappingNode {
			value = typeOf(more, indent)
		}
		return "Record<string, " + value + ">"
	}
	var required []string
	if names := member(schema, "required"); names != nil {
		for _, name := range names.Content {
			required = append(required, name.Value)
		}
	}
	var out strings.Builder
	out.WriteString("{\n")
	inner := indent + "  "
	for name, property := range members(properties) {
		optional := "?"
		if slices.Contains(required, name) {
			optional = ""
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r != '_' && (r < 'A' || r > 'z') }) {
			name = fmt.Sprintf("%q", name)
		}
		fmt.Fprintf(&out, "%s%s%s: %s;\n", inner, name, optional, typeOf(property, inner))
	}
	return out.String() + indent + "}"
}

// union joins the types of several schemas or values.
func union(nodes []*yaml.Node, show func(*yaml.Node) string) string {
	var all []string
	for _, n := range nodes {
		if text := show(n); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, " | ")
}

// literal returns the TypeScript type of a single value.
func literal(n *yaml.Node) string {
	if n.Tag != "!!str" {
		return n.Value
	}
	text, err := json.Marshal(n.Value)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(text)
}
