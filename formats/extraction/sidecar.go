package extraction

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"labshelf/formats/descriptive"
	"labshelf/formats/descriptive/units"
)

// MaxSidecar is the largest sidecar that is read, in bytes.
const MaxSidecar = 1 << 20

// maxDepth bounds the nesting of lists and groups in a sidecar. Package descriptive rejects deeper
// values.
const maxDepth = 8

// SidecarSuffix follows the name of a file in the name of its sidecar.
const SidecarSuffix = ".json"

// Sidecar reads the members of a JSON object as properties. If the object has a member properties,
// or metadata.properties as records have, it reads the members of that object. A string with a
// number and a known unit becomes a quantity. Null and invalid values are left out. ErrFormat: the
// text is not an object, or is too long.
func Sidecar(text []byte) (Result, error) {
	if len(text) > MaxSidecar {
		return Result{}, malformed("a sidecar of more than %d bytes", MaxSidecar)
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	d.UseNumber()
	var all map[string]any
	if err := d.Decode(&all); err != nil || all == nil {
		return Result{}, malformed("no JSON object: %v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Result{}, malformed("there is extra text after the JSON object")
	}
	if metadata, ok := all["metadata"].(map[string]any); ok {
		if inner, ok := metadata["properties"].(map[string]any); ok {
			all = inner
		}
	} else if inner, ok := all["properties"].(map[string]any); ok {
		all = inner
	}
	to := &collector{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if v, ok := to.convert(all[name], 1); ok {
			to.add(name, v)
		}
	}
	return to.result(), nil
}

// convert turns a decoded JSON value into a property value. It counts and skips unsupported values,
// also within lists and groups.
func (c *collector) convert(from any, depth int) (v descriptive.Value, ok bool) {
	switch from := from.(type) {
	case string:
		if v, ok := quantityIn(clean(from), units.DecimalPoint); ok {
			return v, true
		}
		return descriptive.TextOf(strings.TrimSpace(from)), true
	case bool:
		return descriptive.TruthOf(from), true
	case json.Number:
		return descriptive.NumberOf(descriptive.Number(from)), true
	case []any:
		if depth < maxDepth {
			return c.list(from, depth+1), true
		}
	case map[string]any:
		if depth < maxDepth {
			return c.quantity(c.groupOf(from, depth+1))
		}
	}
	c.left++
	return v, false
}

// quantity reads {"value":"20,5","unit":"°C"}. It is not ok, and counts the value as skipped, if
// the number is ambiguous or the unit unknown.
func (c *collector) quantity(v descriptive.Value) (read descriptive.Value, ok bool) {
	m := descriptive.Metadata{Properties: descriptive.Group{{Name: "a", Value: v}}}
	if m.ReadQuantities(descriptive.Metadata{}) != nil {
		c.left++
		return v, false
	}
	return m.Properties[0].Value, true
}

func (c *collector) list(from []any, depth int) descriptive.Value {
	list := []descriptive.Value{}
	for _, element := range from {
		if v, ok := c.convert(element, depth); ok {
			list = append(list, v)
		}
	}
	return descriptive.ListOf(list...)
}

func (c *collector) groupOf(from map[string]any, depth int) descriptive.Value {
	group := descriptive.Group{}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		v, ok := c.convert(from[name], depth)
		if !ok {
			continue
		}
		name = propertyName(name)
		if _, taken := group.Get(name); taken || name == "" {
			c.left++
			continue
		}
		group = group.With(name, v)
	}
	return descriptive.GroupOf(group)
}
