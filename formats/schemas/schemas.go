// Package schemas compiles JSON Schemas (draft 2020-12), validates properties with them, and
// derives the forms that pages draw.
//
// Schemas and values come from users who are not trusted. A schema is read from its own text and
// from the metaschema of 2020-12, and from nowhere else: no reference leads to the network or to a
// file. docs/reference/schema-language.md lists the limits.
//
// A schema takes this way:
//
//	decode       reads the text, within limits of its size
//	collect      notes which of its values are schemas, by their pointers, with ids and anchors
//	isSchema     evaluates the metaschema, a compiled schema like any other, on the text
//	fill         turns each schema that the root reaches into a node, by the table of keywords
//	             (vocabulary), and resolves its references to other nodes
//	checkChains  refuses nodes that apply themselves to the same value
//	drawForm     draws the form
//
// A value takes this one: decode reads it, apply applies the root to it and further nodes to the
// value and its parts, and problemsOf turns the failures into problems with paths and messages.
// Whatever apply does, it first takes the steps that this costs from a budget of MaxSteps; when
// nothing is left, the validation ends with a problem that says so.
package schemas

// Limits of a schema and of a value.
const (
	MaxSchema = 64 << 10 // bytes of the text of a schema
	MaxValue  = 64 << 10 // bytes of the text of a value
	MaxDepth  = 48       // objects and arrays within each other, of either

	// MaxSubschemas bounds the objects and truth values of a schema, which are all that can be a
	// schema within it.
	MaxSubschemas = 2000

	// MaxReferences bounds the references in a schema. Each takes time in proportion to it.
	MaxReferences = 500

	// MaxChain bounds the schemas that apply to one value through each other, by references and by
	// keywords such as allOf.
	MaxChain = 64

	// MaxSteps bounds a validation. A step takes at most some 10 ns on a machine of 2020.
	MaxSteps = 20_000_000
)

// The address of the text of a schema, for the references in it. It leads nowhere.
const (
	prefix  = "labshelf:///"
	address = prefix + "schema"
)

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

// Form returns what a page draws to fill in an object of the schema. The caller must not change it.
func (s *Schema) Form() Form { return s.form }
