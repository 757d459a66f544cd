package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// compiler compiles one document, with the schemas that its root reaches.
type compiler struct {
	others   func(address string) (*document, error) // returns further documents for references
	isSchema func(v any) []Problem                   // the metaschema; nil: schemas are trusted
	nodes    []*node                                 // compiled nodes, then nodes to compile
	links    []link                                  // of the node that is being compiled
	patterns patternBudget
}

// link is a reference that is resolved after the rest of its node is compiled.
type link struct {
	text string
	set  func(to *node, fragment string)
}

// compile compiles the schema at the root of a document. Errors are *Error.
func (c *compiler) compile(d *document) (*node, error) {
	if err := d.collect(d.value, "", nil); err != nil {
		return nil, err
	}
	if err := c.validate(d.value, ""); err != nil {
		return nil, err
	}
	root := c.node(d, "", d.value)
	return root, c.run()
}

// run compiles all known nodes, and the nodes that they lead to.
func (c *compiler) run() error {
	for i := 0; i < len(c.nodes); i++ {
		if err := c.fill(c.nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

// validate validates a schema with the metaschema. The pointer is its place in the document.
func (c *compiler) validate(v any, pointer string) error {
	if c.isSchema == nil {
		return nil
	}
	if problems := c.isSchema(v); len(problems) > 0 {
		first := problems[0]
		return &Error{Path: pointer + first.Path, Rule: first.Rule, Message: first.Message}
	}
	return nil
}

// node returns the node at a pointer. A new one is compiled later.
func (c *compiler) node(d *document, pointer string, v any) *node {
	if n := d.nodes[pointer]; n != nil {
		return n
	}
	n := &node{document: d, pointer: pointer, resource: d.resourceAt(pointer)}
	switch v := v.(type) {
	case bool:
		n.verdict = &v
	case map[string]any:
		n.object = v
		if always := true; len(v) == 0 {
			n.verdict = &always
		}
	}
	d.nodes[pointer] = n
	c.nodes = append(c.nodes, n)
	return n
}

// child returns the node of a schema within n.
func (c *compiler) child(n *node, v any, names ...string) *node {
	return c.node(n.document, n.pointer+pointerTo(names), v)
}

// fill compiles the keywords of a node. It resolves references last, since they can lead anywhere.
func (c *compiler) fill(n *node) error {
	c.enter(n.document, n.resource)
	for _, k := range vocabulary {
		v, ok := n.object[k.name]
		if !ok || k.set == nil {
			continue
		}
		if err := k.set(c, n, v); err != nil {
			return err
		}
	}
	links := c.links
	c.links = nil
	for _, l := range links {
		to, fragment, err := c.resolve(n, l.text)
		if err != nil {
			return err
		}
		l.set(to, fragment)
	}
	return nil
}

// enter compiles the schemas of a resource that a $dynamicRef can reach from outside.
func (c *compiler) enter(d *document, r *resource) {
	if r.dynamic != nil {
		return
	}
	r.dynamic = map[string]*node{}
	c.node(d, r.pointer, d.places[r.pointer])
	for _, anchor := range r.dynamicAnchors {
		pointer := r.anchors[anchor]
		r.dynamic[anchor] = c.node(d, pointer, d.places[pointer])
	}
}

// resolve returns the target of a reference in n, and the fragment of the reference.
func (c *compiler) resolve(n *node, text string) (to *node, fragment string, err error) {
	address, fragment, err := join(n.resource.id, text)
	if err != nil {
		return nil, "", referenceError("error in parsing %q: %v", text, err)
	}
	d := n.document
	r := d.ids[address]
	if r == nil {
		if d, err = c.others(address); err != nil {
			return nil, "", err
		}
		r = d.resources[""]
	}
	pointer := r.pointer + fragment
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		anchored, ok := r.anchors[fragment]
		if !ok {
			return nil, "", referenceError("anchor in %q not found in schema %q", r.id+"#"+escapePath(fragment), d.address)
		}
		pointer = anchored
	}
	to, err = c.at(d, pointer)
	return to, fragment, err
}

// at returns the node at a pointer of a reference. Outside of keywords with schemas, it first
// checks that the value is a schema.
func (c *compiler) at(d *document, pointer string) (*node, error) {
	if n := d.nodes[pointer]; n != nil {
		return n, nil
	}
	place := d.address + "#" + escapePath(pointer)
	v, known := d.places[pointer]
	if known && !d.sealed {
		return c.node(d, pointer, v), nil
	}
	v, err := lookUp(d.value, pointer)
	switch {
	case errors.Is(err, errPointer):
		return nil, referenceError("invalid json-pointer %q", place)
	case err != nil || d.sealed:
		return nil, referenceError("json-pointer in %q not found", place)
	}
	if err := d.collect(v, pointer, d.resourceAt(pointer)); err != nil {
		return nil, err
	}
	if err := c.validate(v, pointer); err != nil {
		return nil, err
	}
	return c.node(d, pointer, v), nil
}

// referenceError is the error of a reference, an id or an anchor.
func referenceError(format string, parts ...any) *Error {
	return &Error{Rule: "reference", Message: strings.ReplaceAll(fmt.Sprintf(format, parts...), address, "")}
}

// setPatternProperties compiles the regular expressions of names, sorted.
func setPatternProperties(c *compiler, n *node, v any) error {
	members, _ := v.(map[string]any)
	for _, text := range slices.Sorted(maps.Keys(members)) {
		p, err := c.patterns.compile(text)
		if err != nil {
			return &Error{Path: n.pointer + pointerTo([]string{"patternProperties", text}), Rule: "propertyNames", Message: err.Error()}
		}
		n.patternProperties = append(n.patternProperties, patternProperty{p, c.child(n, members[text], "patternProperties", text)})
	}
	return nil
}

func setPattern(c *compiler, n *node, v any) (err error) {
	text, _ := v.(string)
	if n.pattern, err = c.patterns.compile(text); err != nil {
		return &Error{Path: n.pointer + "/pattern", Rule: "format", Message: "must be a regular expression: " + err.Error()}
	}
	return nil
}

// setDependencies compiles a keyword of drafts before 2019. Each of its members is a list of names
// or a schema.
func setDependencies(c *compiler, n *node, v any) error {
	members, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member := members[name]
		if names, ok := member.([]any); ok {
			n.dependents = append(n.dependents, dependents{"dependencies", name, texts(names)})
			continue
		}
		n.dependentSchemas = append(n.dependentSchemas, dependentSchema{name, c.child(n, member, "dependencies", name)})
	}
	return nil
}

// texts returns the strings of a list.
func texts(v any) (all []string) {
	list, _ := v.([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// numberOf returns the value of a keyword as a number, or nil.
func numberOf(v any) *big.Rat {
	if n, ok := v.(json.Number); ok {
		return rational(n)
	}
	return nil
}
