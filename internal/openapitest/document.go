// Package openapitest provides tests with the operations of an OpenAPI 3.1 document and validates
// requests, responses and values against its schemas. It supports what the document of labshelf
// uses.
package openapitest

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is an OpenAPI document. It compiles each schema at its first use.
type Document struct {
	Operations []*Operation // sorted by path and method

	root any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by pointer
}

const documentURL = "https://labshelf.test/openapi.json"

// Load reads a document in JSON.
func Load(path string) (*Document, error) {
	text, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	root, err := jsonschema.UnmarshalJSON(text)
	_ = text.Close() // it was only read
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	compiler.UseRegexpEngine(compilePattern)
	d := &Document{root: root, compiler: compiler, compiled: map[string]*jsonschema.Schema{}}
	d.Operations = d.operations()
	return d, compiler.AddResource(documentURL, root)
}

// codePoint matches the ECMAScript notation of a character.
var codePoint = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// compilePattern compiles an ECMAScript pattern, as used in the document.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	return regexp.Compile(codePoint.ReplaceAllString(pattern, `\x{$1}`))
}

// Get returns the node below the root of the document.
func (d *Document) Get(names ...string) Node {
	return Node{document: d, value: d.root}.Get(names...)
}

// Schema returns a schema of the components.
func (d *Document) Schema(name string) Node {
	return d.Get("components", "schemas", name)
}

// Node is a value in a document: an object, an array or a scalar. Its methods follow references.
type Node struct {
	document *Document
	pointer  string // a JSON pointer
	value    any    // nil if the document has no value there
}

var escapes, unescapes = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// Get returns the node at a path of member names or array indices. If the document has no such
// value, the node does not exist.
func (n Node) Get(names ...string) Node {
	for _, name := range names {
		n = n.resolve()
		below := Node{document: n.document, pointer: n.pointer + "/" + escapes.Replace(name)}
		switch v := n.value.(type) {
		case map[string]any:
			below.value = v[name]
		case []any:
			if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
				below.value = v[i]
			}
		}
		n = below
	}
	return n
}

// resolve returns the node that a reference refers to, and any other node itself.
func (n Node) resolve() Node {
	target := n.reference()
	if target == "" {
		return n
	}
	var names []string
	for name := range strings.SplitSeq(strings.TrimPrefix(target, "#/"), "/") {
		names = append(names, unescapes.Replace(name))
	}
	return n.document.Get(names...).resolve()
}

// reference returns the target of a reference, or "" if the node is not a reference.
func (n Node) reference() string {
	members, _ := n.value.(map[string]any)
	target, _ := members["$ref"].(string)
	return target
}

// Exists reports whether the document has the node.
func (n Node) Exists() bool { return n.resolve().value != nil }

// Value returns the unresolved value, including references. A number is a json.Number.
func (n Node) Value() any { return n.value }

// Text returns a string, or "" if the node is not a string.
func (n Node) Text() string {
	text, _ := n.value.(string)
	return text
}

// Names returns the names of the members of an object, sorted.
func (n Node) Names() []string {
	members, _ := n.resolve().value.(map[string]any)
	return slices.Sorted(maps.Keys(members))
}

// Items returns the items of an array.
func (n Node) Items() (items []Node) {
	n = n.resolve()
	array, _ := n.value.([]any)
	for i := range array {
		items = append(items, n.Get(strconv.Itoa(i)))
	}
	return items
}

// Strings returns the strings of an array.
func (n Node) Strings() (texts []string) {
	for _, item := range n.Items() {
		texts = append(texts, item.Text())
	}
	return texts
}

// Validate validates a value against the schema at the node. The value consists of the types of
// encoding/json, or of integers.
func (n Node) Validate(value any) error {
	if !n.Exists() {
		return fmt.Errorf("the document has no schema at %s", n.pointer)
	}
	schema, err := n.document.schema(n.pointer)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// schema returns the compiled schema at a pointer.
func (d *Document) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if schema := d.compiled[pointer]; schema != nil {
		return schema, nil
	}
	schema, err := d.compiler.Compile(documentURL + "#" + pointer)
	if err == nil {
		d.compiled[pointer] = schema
	}
	return schema, err
}
