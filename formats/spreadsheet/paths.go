package spreadsheet

import (
	"iter"
	"slices"
	"strings"

	"labshelf/formats/descriptive"
)

// leaves yields the values with their own cells, each with its path. An empty group is one of them.
func leaves(prefix string, g descriptive.Group) iter.Seq2[string, descriptive.Value] {
	return func(yield func(string, descriptive.Value) bool) { walk(prefix, g, yield) }
}

func walk(prefix string, g descriptive.Group, yield func(string, descriptive.Value) bool) bool {
	for _, p := range g {
		inner := p.Value.Group()
		if len(inner) == 0 && !yield(prefix+p.Name, p.Value) || !walk(prefix+p.Name+".", inner, yield) {
			return false
		}
	}
	return true
}

// at returns the value at a path. A group that is not empty does not count: its members have cells.
func at(g descriptive.Group, path string) (v descriptive.Value, ok bool) {
	for name := range strings.SplitSeq(path, ".") {
		if v, ok = g.Get(name); !ok {
			return v, false
		}
		g = v.Group()
	}
	return v, len(g) == 0
}

// without returns g without the value at a path. It also removes groups that become empty.
func without(g descriptive.Group, path string) descriptive.Group {
	name, rest, deeper := strings.Cut(path, ".")
	v, ok := g.Get(name)
	if !ok {
		return g
	}
	if deeper {
		if inner := without(v.Group(), rest); len(inner) > 0 {
			return g.With(name, descriptive.GroupOf(inner))
		}
	}
	return g.Without(name)
}

// with returns g with v at a path. It is not ok if another value is in the way.
func with(g descriptive.Group, path string, v descriptive.Value) (_ descriptive.Group, ok bool) {
	name, rest, deeper := strings.Cut(path, ".")
	present, there := g.Get(name)
	switch {
	case !deeper && len(present.Group()) > 0:
		return g, false
	case !deeper:
		return g.With(name, v), true
	}
	group := slices.Clone(present.Group())
	switch {
	case present.Form() == descriptive.Quantity: // a quantity is a group in JSON
		group = descriptive.Group{{Name: "unit", Value: descriptive.TextOf(present.Unit())}, {Name: "value", Value: descriptive.NumberOf(descriptive.Number(present.Text()))}}
	case there && present.Form() != descriptive.Properties:
		return g, false
	}
	inner, ok := with(group, rest, v)
	if !ok {
		return g, false
	}
	return g.With(name, descriptive.GroupOf(inner)), true
}
