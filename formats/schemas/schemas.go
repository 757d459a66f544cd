// Package schemas compiles JSON Schemas (draft 2020-12), validates properties with them, and
// derives the forms of the pages.
//
// Schemas and values come from users who are not trusted. A schema consists of its own text and the
// metaschema of 2020-12: references never lead to the network or to a file.
// docs/reference/schema-language.md lists the limits.
//
// The steps for a schema:
//
//	decode       reads the text, within limits of its size
//	collect      records which of its values are schemas, by their pointers, with ids and anchors
//	isSchema     evaluates the metaschema, a compiled schema like any other, on the text
//	fill         turns each schema that the root reaches into a node, by the table of keywords
//	             (vocabulary), and resolves its references to other nodes
//	checkChains  rejects nodes that apply themselves to the same value
//	drawForm     derives the form
//
// The steps for a value: decode reads it, apply applies the root to it and further nodes to the
// value and its parts, and problemsOf turns the failures into problems with paths and messages.
// apply first takes the steps of each operation from a budget of MaxSteps. When the budget is
// empty, the validation ends with a problem that reports this.
package schemas

// Limits of a schema and of a value.
const (
	MaxSchema = 64 << 10 // bytes of the text of a schema
	MaxValue  = 64 << 10 // bytes of the text of a value
	MaxDepth  = 48       // nested objects and arrays, in a schema or a value

	// MaxSubschemas bounds the objects and booleans in a schema: only these can be subschemas.
	MaxSubschemas = 2000

	// MaxReferences bounds the references in a schema, since each takes time in proportion to it.
	MaxReferences = 500

	// MaxChain bounds the schemas that apply to one value through references and keywords such as
	// allOf.
	MaxChain = 64

	// MaxSteps bounds a validation. A step takes about 10 ns.
	MaxSteps = 20_000_000
)

// The address of a schema's text, as the base of its references. It does not exist.
const (
	prefix  = "labshelf:///"
	address = prefix + "schema"
)

// Error is the reason why this package rejects a schema.
type Error struct {
	Path    string // JSON pointer to the error in the schema; "" is the whole schema
	Rule    string // the violated keyword, or "json", "size", "depth", "number", "reference", "cycle"
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
	root *node
	form Form
}

// Compile compiles the text of a schema. An error is an *Error.
func Compile(text []byte) (*Schema, error) {
	read, err := decode(text, limits{bytes: MaxSchema, subschemas: MaxSubschemas, what: "schema"})
	if err != nil {
		return nil, err
	}
	if err := checkKeywords(read.value); err != nil {
		return nil, err
	}
	c := &compiler{others: otherDocument, isSchema: isSchema, patterns: newPatternBudget()}
	root, err := c.compile(newDocument(address, read.value, read.orders))
	if err != nil {
		return nil, err
	}
	if err := checkChains(c.nodes); err != nil {
		return nil, err
	}
	return &Schema{root, drawForm(root)}, nil
}

// Form returns the form for an object of the schema. The caller must not change it.
func (s *Schema) Form() Form { return s.form }
