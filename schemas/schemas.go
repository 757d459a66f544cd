// Package schemas compiles JSON Schemas (draft 2020-12), validates properties with them, and derives the forms that pages draw.
//
// Schemas and values come from users who are not trusted. A schema is read from its own text and from the metaschema of 2020-12, and from
// nowhere else: no reference leads to the network or to a file. What the library underneath does with a value is counted while it runs, and
// a validation that takes more than MaxSteps ends with a problem that says so; docs/schemas.md lists the limits.
package schemas

import (
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of a schema and of a value.
const (
	MaxSchema = 64 << 10 // bytes of the text of a schema
	MaxValue  = 64 << 10 // bytes of the text of a value
	MaxDepth  = 48       // objects and arrays within each other, of either

	// MaxSubschemas bounds the objects and truth values of a schema, which are all that can be a schema within it.
	MaxSubschemas = 2000

	// MaxReferences bounds the references in a schema: the library may take time for each that grows with the schema.
	MaxReferences = 500

	// MaxChain bounds the schemas that apply to one value through each other, by references and by keywords such as allOf.
	MaxChain = 64

	// MaxSteps bounds a validation. A step takes some 10 ns on a machine of 2020.
	MaxSteps = 20_000_000
)

// address is where the text of a schema is, for the references in it. It leads nowhere.
const address = "labshelf:///schema"

// metaschema is what $schema may name.
const metaschema = "https://json-schema.org/draft/2020-12/schema"

// Error says why a text is no schema that this package accepts.
type Error struct {
	Path    string // JSON pointer to where the error is in the schema; "" is the schema as a whole
	Rule    string // the keyword that was broken, or "json", "size", "depth", "number", "reference", "cycle"
	Message string // one sentence in English, without a full stop
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// Schema is a compiled schema. It does not change, and is safe for concurrent use.
type Schema struct {
	document document
	form     Form
	programs sync.Pool // of *program; each is used by one validation at a time
}

// Compile compiles the text of a schema. An error is an *Error.
func Compile(text []byte) (*Schema, error) {
	doc, err := decode(text, limits{bytes: MaxSchema, subschemas: MaxSubschemas, what: "schema"})
	if err != nil {
		return nil, err
	}
	if err := checkKeywords(doc.value); err != nil {
		return nil, err
	}
	s := &Schema{document: doc}
	first, err := s.compile()
	if err != nil {
		return nil, err
	}
	if err := first.graph.check(); err != nil {
		return nil, err
	}
	s.form = drawForm(first.root, doc)
	first.instrument()
	s.programs.Put(first)
	return s, nil
}

// Form returns what a page draws to fill in an object of the schema. The caller must not change it.
func (s *Schema) Form() Form { return s.form }

// program returns one that no other validation uses.
func (s *Schema) program() *program {
	if p, ok := s.programs.Get().(*program); ok {
		return p
	}
	p, err := s.compile()
	if err != nil {
		panic(fmt.Sprintf("a schema that compiled does not compile again: %v", err)) // nothing in it has changed
	}
	p.instrument()
	return p
}

// compile has the library compile the document.
func (s *Schema) compile() (*program, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(refuseAll{})
	c.UseRegexpEngine(newEngine())
	for _, name := range unchecked {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(address, s.document.value); err != nil {
		return nil, fromLibrary(err)
	}
	root, err := c.Compile(address)
	if err != nil {
		return nil, fromLibrary(err)
	}
	roots := []*jsonschema.Schema{root}
	for _, pointer := range s.document.dynamic {
		// A schema with a $dynamicAnchor may be reached in no other way. What only looks like one, in an example, does not compile.
		if anchored, err := c.Compile(address + "#" + escapeFragment(pointer)); err == nil {
			roots = append(roots, anchored)
		}
	}
	return &program{root: root, graph: newGraph(roots)}, nil
}

// refuseAll is the loader of everything that is outside of the schema.
type refuseAll struct{}

func (refuseAll) Load(url string) (any, error) {
	return nil, outside{strings.TrimPrefix(url, "labshelf:///")}
}

// outside is the error of a reference to a document that is not at hand.
type outside struct{ url string }

func (e outside) Error() string {
	return fmt.Sprintf("%q is not part of this schema: references are not fetched, from network or file; write what it refers to below $defs", e.url)
}
