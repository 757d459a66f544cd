package schemas

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// draw fills in the kind of a field, and what that kind asks for.
func (d *drawer) draw(f *Field, same []*jsonschema.Schema, depth int) {
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

// formatKinds are the kinds of texts with a format.
var formatKinds = map[string]Kind{"date": KindDate, "date-time": KindDateTime}

func (d *drawer) drawText(f *Field, same []*jsonschema.Schema) {
	f.Kind = KindText
	f.Min = sizeBound(same, func(s *jsonschema.Schema) *int { return s.MinLength })
	f.Max = sizeBound(same, func(s *jsonschema.Schema) *int { return s.MaxLength })
	for _, s := range same {
		if s.MaxLength != nil && *s.MaxLength > shortLength || d.document.isText(s) {
			f.Kind = KindLongText
		}
		if s.Pattern != nil && f.Pattern == "" {
			f.Pattern = s.Pattern.String()
		}
	}
	for _, s := range same {
		if s.Format != nil && formatKinds[s.Format.Name] != "" {
			f.Kind = formatKinds[s.Format.Name]
		}
	}
}

func (d *drawer) drawList(f *Field, same []*jsonschema.Schema, depth int) {
	var of *jsonschema.Schema
	for _, s := range same {
		if len(s.PrefixItems) > 0 {
			return
		}
		of = cmp.Or(of, s.Items2020)
	}
	if of == nil {
		return
	}
	item := d.field(of, depth+1)
	if item.Kind == KindJSON || item.Kind == KindList {
		return
	}
	f.Kind, f.Item = KindList, &item
	f.Min = sizeBound(same, func(s *jsonschema.Schema) *int { return s.MinItems })
	f.Max = sizeBound(same, func(s *jsonschema.Schema) *int { return s.MaxItems })
}

func (d *drawer) drawObject(f *Field, same []*jsonschema.Schema, depth int) {
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

// asQuantity returns the bounds and the units of a group that is a quantity: of a number called value and a text called unit.
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

// numberBounds returns the bounds that are the narrowest.
func numberBounds(same []*jsonschema.Schema) (least, most *json.Number) {
	var low, high *big.Rat
	for _, s := range same {
		for _, r := range []*big.Rat{s.Minimum, s.ExclusiveMinimum} {
			if r != nil && (low == nil || r.Cmp(low) > 0) {
				low = r
			}
		}
		for _, r := range []*big.Rat{s.Maximum, s.ExclusiveMaximum} {
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
func sizeBound(same []*jsonschema.Schema, of func(*jsonschema.Schema) *int) *json.Number {
	for _, s := range same {
		if bound := of(s); bound != nil {
			n := json.Number(strconv.Itoa(*bound))
			return &n
		}
	}
	return nil
}

// isText reports whether a schema says that its text is one of several lines: that it is a document of a type such as text/plain.
func (d document) isText(s *jsonschema.Schema) bool {
	object, _ := d.of(s).(map[string]any)
	media, _ := object["contentMediaType"].(string)
	return strings.HasPrefix(media, "text/")
}

// of returns what the document says of a schema, or nil for a schema of the metaschema.
func (d document) of(s *jsonschema.Schema) any {
	if !strings.HasPrefix(s.Location, address+"#") {
		return nil
	}
	v := d.value
	for _, name := range strings.Split(pointerIn(s.Location), "/")[1:] {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		switch within := v.(type) {
		case map[string]any:
			v = within[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(within) {
				return nil
			}
			v = within[i]
		}
	}
	return v
}
