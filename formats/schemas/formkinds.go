package schemas

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// draw sets the kind of a field, and the properties of that kind.
func (d *drawer) draw(f *Field, same []*node, depth int) {
	switch soleType(same) {
	case "boolean":
		f.Kind = KindTruth
	case "integer":
		f.Kind = KindInteger
		f.Min, f.Max = numberBounds(same)
	case "number":
		f.Kind = KindNumber
		f.Min, f.Max = numberBounds(same)
	case "string":
		d.drawText(f, same)
	case "array":
		d.drawList(f, same, depth)
	case "object":
		d.drawObject(f, same, depth)
	}
}

// formatKinds are the kinds of strings with a format.
var formatKinds = map[string]Kind{"date": KindDate, "date-time": KindDateTime}

func (d *drawer) drawText(f *Field, same []*node) {
	f.Kind = KindText
	f.Min = sizeBound(same, func(s *node) *int { return s.minLength })
	f.Max = sizeBound(same, func(s *node) *int { return s.maxLength })
	for _, s := range same {
		if s.maxLength != nil && *s.maxLength > shortLength || s.isText() {
			f.Kind = KindLongText
		}
		if s.pattern != nil && f.Pattern == "" {
			f.Pattern = s.pattern.String()
		}
	}
	for _, s := range same {
		if kind := formatKinds[s.format]; kind != "" {
			f.Kind = kind
		}
	}
}

func (d *drawer) drawList(f *Field, same []*node, depth int) {
	var of *node
	for _, s := range same {
		if len(s.prefixItems) > 0 {
			return
		}
		of = cmp.Or(of, s.items)
	}
	if of == nil {
		return
	}
	item := d.field(of, depth+1)
	if item.Kind == KindJSON || item.Kind == KindList {
		return
	}
	f.Kind, f.Item = KindList, &item
	f.Min = sizeBound(same, func(s *node) *int { return s.minItems })
	f.Max = sizeBound(same, func(s *node) *int { return s.maxItems })
}

func (d *drawer) drawObject(f *Field, same []*node, depth int) {
	if depth == maxNested {
		return
	}
	fields := d.fields(same, depth+1)
	if len(fields) == 0 {
		return
	}
	f.Kind, f.Fields = KindGroup, fields
	quantity, ok := asQuantity(fields)
	if !ok {
		return
	}
	f.Kind, f.Fields, f.Min, f.Max, f.Units = KindQuantity, nil, quantity.Min, quantity.Max, quantity.Units
}

// asQuantity returns the bounds and the units of a group that is a quantity: a number called value
// and a string called unit.
func asQuantity(fields []Field) (Field, bool) {
	value := slices.IndexFunc(fields, func(f Field) bool {
		return f.Name == "value" && (f.Kind == KindNumber || f.Kind == KindInteger)
	})
	unit := slices.IndexFunc(fields, func(f Field) bool {
		return f.Name == "unit" && (f.Kind == KindText || f.Kind == KindChoice)
	})
	if len(fields) != 2 || value < 0 || unit < 0 {
		return Field{}, false
	}
	quantity := fields[value]
	for _, c := range fields[unit].Choices {
		text, ok := c.Value.(string)
		if !ok {
			return Field{}, false
		}
		quantity.Units = append(quantity.Units, text)
	}
	return quantity, true
}

// numberBounds returns the narrowest bounds.
func numberBounds(same []*node) (least, most *json.Number) {
	var low, high *big.Rat
	for _, s := range same {
		for _, r := range []*big.Rat{s.minimum, s.exclusiveMinimum} {
			if r != nil && (low == nil || r.Cmp(low) > 0) {
				low = r
			}
		}
		for _, r := range []*big.Rat{s.maximum, s.exclusiveMaximum} {
			if r != nil && (high == nil || r.Cmp(high) < 0) {
				high = r
			}
		}
	}
	return number(low), number(high)
}

// number returns r as JSON, or nil.
func number(r *big.Rat) *json.Number {
	if r == nil {
		return nil
	}
	f, _ := r.Float64()
	n := json.Number(strconv.FormatFloat(f, 'g', -1, 64))
	if r.IsInt() {
		n = json.Number(r.Num().String())
	}
	return &n
}

// sizeBound returns the first bound of a size.
func sizeBound(same []*node, of func(*node) *int) *json.Number {
	for _, s := range same {
		if bound := of(s); bound != nil {
			n := json.Number(strconv.Itoa(*bound))
			return &n
		}
	}
	return nil
}

// isText reports whether a schema describes a string with several lines: a document of a type such
// as text/plain.
func (n *node) isText() bool {
	media, _ := n.object["contentMediaType"].(string)
	return strings.HasPrefix(media, "text/")
}
