package searchtest

import (
	"slices"

	"labshelf/search"
	"labshelf/search/query"
	"labshelf/search/words"
)

// hasProperty reports whether one of the properties matches the clause.
func (d *Document) hasProperty(c query.Clause) bool {
	for i, property := range d.Properties {
		if c.IsPath(words.Fold(property.Path)) && d.fits(property, d.values[i], c) {
			return true
		}
	}
	return false
}

// fits reports whether the value of a property matches the clause. values are the words of its
// text.
func (d *Document) fits(property search.Property, values []string, c query.Clause) bool {
	switch property.Kind {
	case search.Text, search.Bool:
		return len(c.Words) > 0 && best([]text{{values, 1, false}}, c) > 0
	case search.Date:
		return c.Span != nil && c.Span.Holds(int64(property.Number))
	case search.Number, search.Quantity:
		return c.Numbers != nil && d.inRange(property, *c.Numbers)
	}
	return false
}

// inRange reports whether a number or quantity is in the range.
func (d *Document) inRange(property search.Property, n query.Numbers) bool {
	if d.isUnknown(n.Low) || d.isUnknown(n.High) {
		return n.Exact() && property.Unit == n.Low.Unit && property.Number == n.Low.Value
	}
	return d.within(property, n.Low, query.Above) && d.within(property, n.High, query.Below)
}

// isUnknown reports whether all readings of the bound's unit are unknown.
func (d *Document) isUnknown(b *query.Bound) bool {
	return b != nil && b.Unit != "" && !slices.ContainsFunc(query.Readings(b.Unit), func(unit string) bool {
		_, _, ok := d.si(b.Value, unit)
		return ok
	})
}

// within reports whether the property is on the right side of the bound.
func (d *Document) within(property search.Property, b *query.Bound, side func(x, bound float64, closed bool) bool) bool {
	switch {
	case b == nil:
		return true
	case b.Unit == "":
		return side(property.Number, b.Value, b.Closed)
	}
	x, dimension, known := property.Number, "1", true
	if property.Unit != "" {
		x, dimension, known = d.si(property.Number, property.Unit)
	}
	if !known {
		return false
	}
	for _, unit := range query.Readings(b.Unit) {
		if bound, of, ok := d.si(b.Value, unit); ok && of == dimension {
			return side(x, bound, b.Closed)
		}
	}
	return false
}
