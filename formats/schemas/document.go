package schemas

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// document is a JSON text that references can lead to: the schema of a user, or a metaschema.
type document struct {
	address   string
	value     any
	orders    map[string][]string  // as in parsed
	places    map[string]any       // values that are schemas, by their pointers
	resources map[string]*resource // by the pointer to the schema with the $id; "" is the root
	ids       map[string]*resource // by absolute $id, and by the address of the document
	nodes     map[string]*node     // by pointer
	sealed    bool                 // all places are compiled, and no node is added any more
}

// resource is a part of a document with its own address.
type resource struct {
	id, pointer    string
	anchors        map[string]string // pointers by $anchor and $dynamicAnchor
	dynamicAnchors []string
	dynamic        map[string]*node // by $dynamicAnchor; nil before a schema of the resource is compiled
}

func newDocument(address string, value any, orders map[string][]string) *document {
	return &document{
		address: address, value: value, orders: orders,
		places: map[string]any{}, resources: map[string]*resource{}, ids: map[string]*resource{}, nodes: map[string]*node{},
	}
}

// collect records the schemas within v, which is at pointer, with their ids and anchors. within is
// the resource around v; nil at the root. Errors are *Error.
func (d *document) collect(v any, pointer string, within *resource) error {
	if _, known := d.places[pointer]; known {
		return nil
	}
	object, ok := v.(map[string]any)
	if _, literal := v.(bool); !ok && !literal {
		return nil // the metaschema rejects it, or it is a list of dependencies
	}
	d.places[pointer] = v
	if err := checkDraft(object, pointer); err != nil {
		return err
	}
	within, err := d.identify(object, pointer, within)
	if err != nil {
		return err
	}
	if err := d.anchor(object, pointer, within); err != nil {
		return err
	}
	for _, k := range vocabulary {
		member, ok := object[k.name]
		if !ok {
			continue
		}
		if err := d.collectIn(k, member, pointer+"/"+k.name, within); err != nil {
			return err
		}
	}
	return nil
}

// collectIn records the schemas in the value of a keyword.
func (d *document) collectIn(k keyword, v any, pointer string, within *resource) error {
	switch k.holds {
	case oneSchema:
		return d.collect(v, pointer, within)
	case listOfSchemas:
		list, _ := v.([]any)
		for i, item := range list {
			if err := d.collect(item, pointer+"/"+strconv.Itoa(i), within); err != nil {
				return err
			}
		}
	case namedSchemas:
		members, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if err := d.collect(members[name], pointer+"/"+escapePointer(name), within); err != nil {
				return err
			}
		}
	}
	return nil
}

// identify returns the resource of a schema. A schema with an $id, and the root, begin a new
// resource.
func (d *document) identify(object map[string]any, pointer string, within *resource) (*resource, error) {
	text, _ := object["$id"].(string)
	text, _, _ = strings.Cut(text, "#")
	if text == "" && within != nil {
		return within, nil
	}
	base := d.address
	if within != nil {
		base = within.id
	}
	id, _, err := join(base, text)
	if err != nil {
		return nil, referenceError("error in parsing id at %q", d.address+"#"+escapePath(pointer))
	}
	if other := d.ids[id]; other != nil {
		return nil, referenceError("duplicate id %q in %q at %q and %q", strings.TrimPrefix(id, prefix), d.address, pointer, other.pointer)
	}
	r := &resource{id: id, pointer: pointer, anchors: map[string]string{}}
	d.resources[pointer], d.ids[id] = r, r
	if pointer == "" {
		d.ids[d.address] = r
	}
	return r, nil
}

// anchor records the anchors of a schema.
func (d *document) anchor(object map[string]any, pointer string, r *resource) error {
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		name, ok := object[keyword].(string)
		if !ok {
			continue
		}
		if other, known := r.anchors[name]; known && other != pointer {
			return referenceError("duplicate anchor %q in %q at %q and %q", name, d.address, other, pointer)
		}
		r.anchors[name] = pointer
		if keyword == "$dynamicAnchor" {
			r.dynamicAnchors = append(r.dynamicAnchors, name)
		}
	}
	return nil
}

// checkDraft rejects a schema whose $schema is another draft or an unavailable metaschema. It
// ignores the $schema of a schema without an $id.
func checkDraft(object map[string]any, pointer string) error {
	text, ok := object["$schema"].(string)
	if !ok {
		return nil
	}
	text, _, _ = strings.Cut(text, "#")
	switch name := standard(text); {
	case name == "draft/2020-12/schema":
		return nil
	case name == "":
		return outside(text)
	}
	if id, _ := object["$id"].(string); id == "" {
		return nil
	}
	return errDraft(pointer)
}

// errDraft is the error of a schema of another draft.
func errDraft(pointer string) *Error {
	return &Error{Path: pointer, Rule: "$schema", Message: "only JSON Schema 2020-12 is supported"}
}

// outside is the error of a reference to an unavailable document.
func outside(address string) *Error {
	return &Error{Rule: "reference", Message: fmt.Sprintf("%q is not part of this schema: references are not fetched, from network or file; write its target below $defs", strings.TrimPrefix(address, prefix))}
}

// resourceAt returns the innermost resource around a pointer.
func (d *document) resourceAt(pointer string) *resource {
	for {
		if r := d.resources[pointer]; r != nil || pointer == "" {
			return r
		}
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
}

// join resolves a reference against an address. It returns the fragment separately, unescaped.
func join(base, reference string) (joined, fragment string, err error) {
	reference, fragment, _ = strings.Cut(reference, "#")
	if fragment, err = url.PathUnescape(fragment); err != nil {
		return "", "", err
	}
	from, err := url.Parse(base)
	if err != nil {
		return "", "", err
	}
	to, err := url.Parse(reference)
	if err != nil {
		return "", "", err
	}
	resolved := from.ResolveReference(to)
	if !to.IsAbs() && from.Opaque != "" {
		resolved.Opaque = from.Opaque // ResolveReference drops the opaque part of a urn
	}
	return resolved.String(), fragment, nil
}

var (
	errPointer = errors.New("invalid pointer")
	errNothing = errors.New("the target does not exist")
)

// lookUp returns the value at a pointer.
func lookUp(v any, pointer string) (any, error) {
	for _, token := range strings.Split(pointer, "/")[1:] {
		name := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if escapePointer(name) != token {
			return nil, errPointer
		}
		found := false
		switch within := v.(type) {
		case map[string]any:
			v, found = within[name]
		case []any:
			i, err := strconv.Atoi(name)
			if found = err == nil && i >= 0 && i < len(within) && strconv.Itoa(i) == name; found {
				v = within[i]
			}
		}
		if !found {
			return nil, errNothing
		}
	}
	return v, nil
}

// escapePath escapes a pointer for the fragment of an address.
func escapePath(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		tokens[i] = url.PathEscape(token)
	}
	return strings.Join(tokens, "/")
}
