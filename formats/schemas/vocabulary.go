package schemas

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
)

// keyword is a keyword of a schema.
type keyword struct {
	name  string
	holds holds
	set   func(c *compiler, n *node, v any) error // compiles its value; nil: it only contains schemas
}

// holds says which parts of a keyword's value are schemas.
type holds int

const (
	noSchema holds = iota
	oneSchema
	listOfSchemas
	namedSchemas
)

// vocabulary contains every keyword with an effect: the keywords of draft 2020-12, and a few of
// earlier drafts that its metaschema mentions. Other keywords are annotations.
var vocabulary = []keyword{
	setting("title", func(n *node, v any) { n.title, _ = v.(string) }),
	setting("description", func(n *node, v any) { n.description, _ = v.(string) }),
	setting("default", func(n *node, v any) { n.fallback = &v }),

	setting("type", func(n *node, v any) { n.types = typesOf(v) }),
	setting("enum", func(n *node, v any) { n.enum, _ = v.([]any); n.exactCost += measure(v) }),
	setting("const", func(n *node, v any) { n.constant = &v; n.exactCost += measure(v) }),
	setting("format", func(n *node, v any) { n.format, _ = v.(string); n.isFormat = formatOf(n.format) }),

	bound("minimum", func(n *node) **big.Rat { return &n.minimum }),
	bound("maximum", func(n *node) **big.Rat { return &n.maximum }),
	bound("exclusiveMinimum", func(n *node) **big.Rat { return &n.exclusiveMinimum }),
	bound("exclusiveMaximum", func(n *node) **big.Rat { return &n.exclusiveMaximum }),
	bound("multipleOf", func(n *node) **big.Rat { return &n.multipleOf }),

	size("minLength", func(n *node) **int { return &n.minLength }),
	size("maxLength", func(n *node) **int { return &n.maxLength }),
	size("minItems", func(n *node) **int { return &n.minItems }),
	size("maxItems", func(n *node) **int { return &n.maxItems }),
	size("minContains", func(n *node) **int { return &n.minContains }),
	size("maxContains", func(n *node) **int { return &n.maxContains }),
	size("minProperties", func(n *node) **int { return &n.minProperties }),
	size("maxProperties", func(n *node) **int { return &n.maxProperties }),

	{"pattern", noSchema, setPattern},
	{"patternProperties", namedSchemas, setPatternProperties},
	setting("uniqueItems", func(n *node, v any) { n.uniqueItems, _ = v.(bool) }),
	setting("required", func(n *node, v any) { n.required = texts(v) }),
	{"dependentRequired", noSchema, setDependentRequired},
	{"dependentSchemas", namedSchemas, setDependentSchemas},
	{"dependencies", namedSchemas, setDependencies},

	one("items", func(n *node) **node { return &n.items }),
	one("contains", func(n *node) **node { return &n.contains }),
	one("unevaluatedItems", func(n *node) **node { return &n.unevaluatedItems }),
	list("prefixItems", func(n *node) *[]*node { return &n.prefixItems }),
	{"properties", namedSchemas, setProperties},
	one("additionalProperties", func(n *node) **node { return &n.additionalProperties }),
	one("propertyNames", func(n *node) **node { return &n.propertyNames }),
	one("unevaluatedProperties", func(n *node) **node { return &n.unevaluatedProperties }),

	list("allOf", func(n *node) *[]*node { return &n.allOf }),
	list("anyOf", func(n *node) *[]*node { return &n.anyOf }),
	list("oneOf", func(n *node) *[]*node { return &n.oneOf }),
	one("not", func(n *node) **node { return &n.not }),
	one("if", func(n *node) **node { return &n.condition }),
	branch("then", true, func(n *node) **node { return &n.then }),
	branch("else", false, func(n *node) **node { return &n.other }),

	{"$ref", noSchema, setReference},
	{"$recursiveRef", noSchema, setReference},
	{"$dynamicRef", noSchema, setDynamicReference},
	setting("$dynamicAnchor", func(n *node, v any) { n.dynamicAnchor, _ = v.(string) }),

	{"$defs", namedSchemas, nil},
	{"definitions", namedSchemas, nil},
	{"contentSchema", oneSchema, nil},
}

// setting returns a keyword that depends only on its value.
func setting(name string, set func(n *node, v any)) keyword {
	return keyword{name, noSchema, func(_ *compiler, n *node, v any) error {
		set(n, v)
		return nil
	}}
}

// bound is a keyword whose value is a number.
func bound(name string, field func(n *node) **big.Rat) keyword {
	return setting(name, func(n *node, v any) { *field(n) = numberOf(v) })
}

// size is a keyword whose value is a whole number, of at most 2^53 (checkKeywords).
func size(name string, field func(n *node) **int) keyword {
	return setting(name, func(n *node, v any) {
		if r := numberOf(v); r != nil && r.IsInt() {
			i := int(r.Num().Int64())
			*field(n) = &i
		}
	})
}

// one is a keyword whose value is a schema.
func one(name string, field func(n *node) **node) keyword {
	return keyword{name, oneSchema, func(c *compiler, n *node, v any) error {
		*field(n) = c.child(n, v, name)
		return nil
	}}
}

// branch returns the keyword then or else. It has no effect without an if, or if the if is the
// other boolean.
func branch(name string, where bool, field func(n *node) **node) keyword {
	k := one(name, field)
	set := k.set
	k.set = func(c *compiler, n *node, v any) error {
		condition, ok := n.object["if"]
		if literal, isLiteral := condition.(bool); !ok || isLiteral && literal != where {
			return nil
		}
		return set(c, n, v)
	}
	return k
}

// list is a keyword whose value is an array of schemas.
func list(name string, field func(n *node) *[]*node) keyword {
	return keyword{name, listOfSchemas, func(c *compiler, n *node, v any) error {
		items, _ := v.([]any)
		for i, item := range items {
			*field(n) = append(*field(n), c.child(n, item, name, strconv.Itoa(i)))
		}
		return nil
	}}
}

func setProperties(c *compiler, n *node, v any) error {
	members, _ := v.(map[string]any)
	n.properties = make(map[string]*node, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		n.properties[name] = c.child(n, members[name], "properties", name)
	}
	return nil
}

func setDependentRequired(_ *compiler, n *node, v any) error {
	members, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		n.dependents = append(n.dependents, dependents{"dependentRequired", name, texts(members[name])})
	}
	return nil
}

func setDependentSchemas(c *compiler, n *node, v any) error {
	members, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		n.dependentSchemas = append(n.dependentSchemas, dependentSchema{name, c.child(n, members[name], "dependentSchemas", name)})
	}
	return nil
}

// setReference compiles $ref, and treats $recursiveRef in the same way.
func setReference(c *compiler, n *node, v any) error {
	text, _ := v.(string)
	c.links = append(c.links, link{text, func(to *node, _ string) { n.references = append(n.references, to) }})
	return nil
}

func setDynamicReference(c *compiler, n *node, v any) error {
	text, _ := v.(string)
	c.links = append(c.links, link{text, func(to *node, fragment string) { n.dynamic = &dynamicReference{to, fragment} }})
	return nil
}
