package schemas

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
)

// Limits of a form. Parts beyond them get KindJSON.
const (
	maxFields   = 500 // including those in groups
	maxNested   = 4   // nested groups and lists
	shortLength = 200 // characters up to which a string has one line
)

// Form is the form for an object of a schema. It omits parts that depend on other values (if,
// anyOf, patternProperties).
type Form struct {
	Title  string  `json:"title,omitempty"`
	Help   string  `json:"help,omitempty"`
	Fields []Field `json:"fields"` // fields with x-order first, sorted by it; then the others in the order of properties
	Open   bool    `json:"open"`   // the object may have properties without a field
}

// Field is one property of a form, or the item of a list.
type Field struct {
	Name     string   `json:"name,omitempty"`  // of the property; "" for an item
	Label    string   `json:"label"`           // title, or the name
	Help     string   `json:"help,omitempty"`  // description
	Kind     Kind     `json:"kind"`            // the kind of input
	Units    []string `json:"units,omitempty"` // of a quantity; empty: any unit
	Choices  []Choice `json:"choices,omitempty"`
	Required bool     `json:"required,omitempty"`
	Default  any      `json:"default,omitempty"` // a value as encoding/json decodes it, with json.Number; nil: no default

	// Min and Max bound a number or the number of a quantity, the characters of a string, or the
	// items of a list. Bounds of numbers may be exclusive, which only Validate checks.
	Min     *json.Number `json:"min,omitempty"`
	Max     *json.Number `json:"max,omitempty"`
	Pattern string       `json:"pattern,omitempty"` // a Go regular expression that a string must match

	Fields []Field `json:"fields,omitempty"` // of a group
	Item   *Field  `json:"item,omitempty"`   // of a list; for a group, the form repeats it
}

// Choice is one of the values that a field may have.
type Choice struct {
	Value any    `json:"value"` // as Default
	Label string `json:"label"`
}

// Kind is the kind of input of a field.
type Kind string

// The kinds of fields.
const (
	KindText     Kind = "text"
	KindLongText Kind = "longText"
	KindNumber   Kind = "number"
	KindInteger  Kind = "integer"
	KindTruth    Kind = "truth"
	KindDate     Kind = "date"
	KindDateTime Kind = "dateTime"
	KindChoice   Kind = "choice"
	KindQuantity Kind = "quantity" // {"value": number, "unit": string}
	KindList     Kind = "list"
	KindGroup    Kind = "group"
	KindJSON     Kind = "json" // a value without a form
)

// drawer draws one form.
type drawer struct {
	left int // remaining fields
}

// drawForm derives the form of a schema without cycles (see checkChains).
func drawForm(root *node) Form {
	d := &drawer{left: maxFields}
	same := unconditional(root)
	form := Form{Open: true, Fields: d.fields(same, 0)}
	form.Title, form.Help = text(same, title), text(same, help)
	for _, s := range same {
		if s.additionalProperties.isFalse() || s.unevaluatedProperties.isFalse() {
			form.Open = false
		}
	}
	return form
}

// unconditional returns s and all schemas that apply whenever s does, each once: references, allOf,
// and the only alternative to null.
func unconditional(s *node) []*node {
	var all []*node
	var add func(s *node)
	add = func(s *node) {
		if s == nil || slices.Contains(all, s) || len(all) == MaxChain {
			return
		}
		all = append(all, s)
		for _, sub := range slices.Concat(s.references, s.allOf) {
			add(sub)
		}
		for _, alternatives := range [][]*node{s.anyOf, s.oneOf} {
			add(orNull(alternatives))
		}
	}
	add(s)
	return all
}

// orNull returns the alternative that is not null, if there are two and the other one is.
func orNull(alternatives []*node) *node {
	if len(alternatives) != 2 {
		return nil
	}
	for i, s := range alternatives {
		if s.types == typeNull {
			return alternatives[1-i]
		}
	}
	return nil
}

func title(s *node) string { return s.title }
func help(s *node) string  { return s.description }

// text returns the first text that is not empty.
func text(same []*node, of func(*node) string) string {
	for _, s := range same {
		if t := of(s); t != "" {
			return t
		}
	}
	return ""
}

// fields draws the properties of an object.
func (d *drawer) fields(same []*node, depth int) []Field {
	fields := []Field{}
	order := map[string]*big.Rat{}
	for _, s := range same {
		for _, name := range s.names() {
			property := s.properties[name]
			if property == nil || slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
				continue
			}
			f := d.field(property, depth)
			f.Name, f.Required = name, slices.ContainsFunc(same, func(s *node) bool { return slices.Contains(s.required, name) })
			if f.Label == "" {
				f.Label = name
			}
			order[name] = property.order()
			fields = append(fields, f)
		}
	}
	slices.SortStableFunc(fields, func(a, b Field) int { return compareOrder(order[a.Name], order[b.Name]) })
	return fields
}

// compareOrder sorts fields without an order after those with one.
func compareOrder(a, b *big.Rat) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Cmp(b)
}

// field returns the form of one property or item, without its name.
func (d *drawer) field(s *node, depth int) Field {
	same := unconditional(s)
	f := Field{Label: text(same, title), Help: text(same, help), Kind: KindJSON}
	for _, s := range same {
		if f.Default == nil && s.fallback != nil {
			f.Default = *s.fallback
		}
	}
	d.left--
	if d.left < 0 || depth > maxNested {
		return f
	}
	if f.Choices = choices(same); f.Choices != nil {
		f.Kind = KindChoice
		return f
	}
	d.draw(&f, same, depth)
	return f
}

// soleType returns the only type of the values apart from null, or "".
func soleType(same []*node) string {
	for _, s := range same {
		if s.types == 0 {
			continue
		}
		if words := (s.types &^ typeNull).words(); len(words) == 1 {
			return words[0]
		}
		return ""
	}
	for _, s := range same {
		if s.properties != nil {
			return "object"
		}
	}
	return ""
}

// choices returns the values of an enum, a const, or alternatives that are each a const, unless one
// of them is an object or a list.
func choices(same []*node) []Choice {
	var all []Choice
	for _, s := range same {
		switch {
		case s.enum != nil:
			for _, v := range s.enum {
				all = append(all, Choice{v, label(v)})
			}
		case s.constant != nil:
			all = []Choice{{*s.constant, label(*s.constant)}}
		case len(s.oneOf) > 0:
			all = constants(s.oneOf)
		case len(s.anyOf) > 0:
			all = constants(s.anyOf)
		}
		if all != nil {
			break
		}
	}
	if slices.ContainsFunc(all, func(c Choice) bool { return !scalar(c.Value) }) {
		return nil
	}
	return all
}

// constants returns the alternatives as choices, or nil if one is not a constant.
func constants(alternatives []*node) []Choice {
	var all []Choice
	for _, s := range alternatives {
		if s.constant == nil {
			return nil
		}
		c := Choice{*s.constant, s.title}
		if c.Label == "" {
			c.Label = label(c.Value)
		}
		all = append(all, c)
	}
	return all
}

func scalar(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}

// label returns the label of a choice without a title.
func label(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return show(v)
}

// names returns the names of the properties in the order of the text, or sorted if that is unknown.
func (n *node) names() []string {
	if names, ok := n.document.orders[n.pointer+"/properties"]; ok {
		return names
	}
	return slices.Sorted(maps.Keys(n.properties))
}

// order returns the x-order of a schema, or nil.
func (n *node) order() *big.Rat {
	return numberOf(n.object["x-order"])
}
