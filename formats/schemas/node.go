package schemas

import "math/big"

// node is one compiled schema. It does not change after its document is compiled.
type node struct {
	document *document
	pointer  string         // JSON pointer to the schema in its document
	object   map[string]any // the decoded schema; nil for true or false
	resource *resource      // the part of the document that resolves its references
	verdict  *bool          // for every value; set for true, false and {}

	title, description string
	fallback           *any // default

	types     types
	enum      []any // nil without the keyword
	constant  *any
	exactCost int // steps for comparing a value with enum and constant
	format    string
	isFormat  func(text string) bool // nil if the format is not checked

	minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf *big.Rat
	minLength, maxLength                                             *int
	pattern                                                          *pattern

	minItems, maxItems, minContains, maxContains *int
	uniqueItems                                  bool
	prefixItems                                  []*node
	items, contains, unevaluatedItems            *node

	minProperties, maxProperties                               *int
	required                                                   []string
	properties                                                 map[string]*node
	patternProperties                                          []patternProperty
	additionalProperties, propertyNames, unevaluatedProperties *node
	dependents                                                 []dependents
	dependentSchemas                                           []dependentSchema

	// Schemas that apply to the same value.
	references                  []*node
	dynamic                     *dynamicReference
	dynamicAnchor               string
	allOf, anyOf, oneOf         []*node
	not, condition, then, other *node
}

// dynamicReference is a $dynamicRef: the target, and its anchor, if any.
type dynamicReference struct {
	node   *node
	anchor string
}

// patternProperty is a schema for the members whose names match.
type patternProperty struct {
	pattern *pattern
	node    *node
}

// dependents are the names that an object must have if it has a given one.
type dependents struct {
	keyword  string // dependentRequired or dependencies
	name     string
	required []string
}

// dependentSchema is a schema for the objects with a member of that name.
type dependentSchema struct {
	name string
	node *node
}

// isFalse reports whether the schema is the literal false.
func (n *node) isFalse() bool { return n != nil && n.verdict != nil && !*n.verdict }

// types is a set of JSON types.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeNumber
	typeInteger
	typeString
	typeArray
	typeObject
)

// typeWords are the names of the types, in the order of their bits.
var typeWords = [...]string{"null", "boolean", "number", "integer", "string", "array", "object"}

// typesOf returns the set of types in the value of the keyword type.
func typesOf(v any) (t types) {
	switch v := v.(type) {
	case string:
		for i, word := range typeWords {
			if word == v {
				t |= 1 << i
			}
		}
	case []any:
		for _, item := range v {
			t |= typesOf(item)
		}
	}
	return t
}

// words returns the names of the types.
func (t types) words() (words []string) {
	for i, word := range typeWords {
		if t&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}
