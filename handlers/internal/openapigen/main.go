// Command openapigen generates openapi.json from the hand-written openapi.yaml, and the TypeScript
// types of its schemas for the pages. Members keep the order of the source.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	yaml "github.com/oasdiff/yaml3"
)

//go:generate go run . ../../openapi.yaml ../../openapi.json ../../../web/src/api/wire.ts

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: openapigen SOURCE.yaml TARGET.json TYPES.ts")
		os.Exit(2)
	}
	if err := errors.Join(generate(os.Args[1], os.Args[2]), generateTypes(os.Args[1], os.Args[3])); err != nil {
		fmt.Fprintln(os.Stderr, "openapigen:", err)
		os.Exit(1)
	}
}

func generate(source, target string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("read the source: %w", err)
	}
	out, err := toJSON(text)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	if err := os.WriteFile(target, out, 0o644); err != nil {
		return fmt.Errorf("write the target: %w", err)
	}
	return nil
}

// toJSON converts one YAML document to indented JSON with a final line break. It refuses YAML that
// JSON cannot express: aliases, merge keys, dates, keys that are not strings, and duplicate keys.
func toJSON(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, errors.New("no document")
	}
	var compact, indented bytes.Buffer
	if err := appendNode(&compact, document.Content[0]); err != nil {
		return nil, err
	}
	if err := json.Indent(&indented, compact.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

func appendNode(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		return appendMapping(out, n)
	case yaml.SequenceNode:
		return appendSequence(out, n)
	case yaml.ScalarNode:
		return appendScalar(out, n)
	}
	return fmt.Errorf("line %d: aliases cannot be written as JSON", n.Line)
}

func appendMapping(out *bytes.Buffer, n *yaml.Node) error {
	seen := make(map[string]bool)
	out.WriteByte('{')
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.ShortTag() != "!!str" || seen[key.Value] {
			return fmt.Errorf("line %d: key %q is not a string, or occurs twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if i > 0 {
			out.WriteByte(',')
		}
		if err := appendScalar(out, key); err != nil {
			return err
		}
		out.WriteByte(':')
		if err := appendNode(out, n.Content[i+1]); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func appendSequence(out *bytes.Buffer, n *yaml.Node) error {
	out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := appendNode(out, item); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

func appendScalar(out *bytes.Buffer, n *yaml.Node) error {
	if n.ShortTag() == "!!timestamp" {
		return fmt.Errorf("line %d: %s would be a date; quote it", n.Line, n.Value)
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}
