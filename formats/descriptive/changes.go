package descriptive

import (
	"bytes"
	"cmp"
	"slices"
)

// Change is the difference in one member, or in one property.
type Change struct {
	Name   string // such as tags or properties.temperature
	Before string // canonical JSON; "" if it did not exist
	After  string // canonical JSON; "" if it was removed
}

// Changes returns the differences, sorted by name: one change for each member and each outermost
// property.
func Changes(before, after Metadata) (changes []Change) {
	for i := range members {
		if members[i].name == properties {
			continue
		}
		was, is := members[i].append(nil, &before), members[i].append(nil, &after)
		if !bytes.Equal(was, is) {
			changes = append(changes, Change{members[i].name, string(was), string(is)})
		}
	}
	changes = append(changes, propertyChanges(before.Properties, after.Properties)...)
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return changes
}

func propertyChanges(before, after Group) (changes []Change) {
	for _, p := range before {
		was, is := string(p.Value.append(nil)), ""
		if now, ok := after.Get(p.Name); ok {
			is = string(now.append(nil))
		}
		if was != is {
			changes = append(changes, Change{properties + "." + p.Name, was, is})
		}
	}
	for _, p := range after {
		if _, ok := before.Get(p.Name); !ok {
			changes = append(changes, Change{properties + "." + p.Name, "", string(p.Value.append(nil))})
		}
	}
	return changes
}
