package schemas

import (
	"encoding/json"
	"math/big"
	"unicode/utf8"
)

// object checks the keywords for objects.
func (v *visit) object(o map[string]any) {
	n := v.node
	v.spend(memberCost * len(o))
	v.limit("minProperties", len(o), n.minProperties)
	v.limit("maxProperties", len(o), n.maxProperties)
	v.require("required", "", n.required, o)
	for _, d := range n.dependents {
		if _, ok := o[d.name]; ok {
			v.require(d.keyword, d.name, d.required, o)
		}
	}
	v.members(o)
	for _, d := range n.dependentSchemas {
		if _, ok := o[d.name]; !ok || v.decided() {
			continue
		}
		if found, valid := v.same(d.node, o, false); !valid {
			v.failed(found)
		}
	}
}

// require checks that an object has names. because is the name that requires them, or "".
func (v *visit) require(rule, because string, names []string, o map[string]any) {
	v.spend(requireCost * len(names))
	var missing []string
	for _, name := range names {
		if _, ok := o[name]; !ok {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		v.fail(failure{rule: rule, because: because, names: missing})
	}
}

// members applies the schemas for the members of an object, and for their names.
func (v *visit) members(o map[string]any) {
	n := v.node
	if n.properties == nil && n.patternProperties == nil && n.additionalProperties == nil && n.propertyNames == nil {
		return
	}
	var unknown []string
	for name, member := range o {
		if v.decided() {
			return
		}
		if !v.member(name, member) && n.additionalProperties.isFalse() {
			unknown = append(unknown, name)
		}
		if n.propertyNames == nil {
			continue
		}
		if _, valid := v.apply(n.propertyNames, name, frame{scope: v.scope, mute: true}); !valid {
			v.fail(failure{rule: "propertyNames", names: []string{name}})
		}
	}
	if unknown != nil {
		v.fail(failure{rule: "additionalProperties", names: unknown})
	}
	if n.additionalProperties != nil {
		v.evaluated.noteAll()
	}
}

// member applies the schemas for one member, and reports whether the schema knows its name.
func (v *visit) member(name string, member any) (known bool) {
	n := v.node
	if property := n.properties[name]; property != nil {
		v.part(property, member, token{name: name})
		known = true
	}
	for _, p := range n.patternProperties {
		v.spend(matchCost + p.pattern.size*len(name))
		if p.pattern.MatchString(name) {
			v.part(p.node, member, token{name: name})
			known = true
		}
	}
	if known {
		v.evaluated.noteName(name)
	} else if n.additionalProperties != nil && !n.additionalProperties.isFalse() {
		v.part(n.additionalProperties, member, token{name: name})
	}
	return known
}

// part applies a schema to a part of the value.
func (v *visit) part(n *node, value any, t token) {
	v.path = append(v.path, t)
	found, valid := v.apply(n, value, frame{scope: v.scope, mute: v.mute})
	v.path = v.path[:len(v.path)-1]
	if !valid {
		v.failed(found)
	}
}

// array checks the keywords for arrays.
func (v *visit) array(items []any) {
	n := v.node
	v.spend(itemCost * len(items))
	v.limit("minItems", len(items), n.minItems)
	v.limit("maxItems", len(items), n.maxItems)
	if n.uniqueItems {
		v.spend(2 * measure(items))
		if earlier, later, found := firstRepeated(items); found {
			v.fail(failure{rule: "uniqueItems", got: earlier, want: later})
		}
	}
	first := min(len(n.prefixItems), len(items))
	for i := range items {
		if v.decided() {
			return
		}
		if i < first {
			v.part(n.prefixItems[i], items[i], token{index: i, isItem: true})
		} else if n.items != nil {
			v.part(n.items, items[i], token{index: i, isItem: true})
		}
	}
	if v.evaluated.noteItems(first); n.items != nil {
		v.evaluated.noteAll()
	}
	if n.contains != nil {
		v.contains(items)
	}
}

// contains counts the items that match the keyword contains.
func (v *visit) contains(items []any) {
	n := v.node
	matched := 0
	for i, item := range items {
		if _, valid := v.apply(n.contains, item, frame{scope: v.scope, mute: true}); valid {
			matched++
			v.evaluated.noteItem(i)
		}
	}
	if n.minContains != nil {
		v.limit("minContains", matched, n.minContains)
	} else if matched == 0 {
		v.fail(failure{rule: "contains"})
	}
	v.limit("maxContains", matched, n.maxContains)
}

// limit compares a size with the bound of a keyword, if it is set.
func (v *visit) limit(rule string, got int, bound *int) {
	if bound == nil {
		return
	}
	if least := rule[:3] == "min"; least && got < *bound || !least && got > *bound {
		v.fail(failure{rule: rule, got: got, want: *bound})
	}
}

// text checks the keywords for strings.
func (v *visit) text(text string) {
	n := v.node
	v.spend(len(text))
	if n.minLength != nil || n.maxLength != nil {
		length := utf8.RuneCountInString(text)
		v.limit("minLength", length, n.minLength)
		v.limit("maxLength", length, n.maxLength)
	}
	if n.pattern != nil {
		v.spend(n.pattern.size * len(text))
		if !n.pattern.MatchString(text) {
			v.fail(failure{rule: "pattern"})
		}
	}
}

// number checks the keywords for numbers.
func (v *visit) number(number json.Number) {
	n := v.node
	var value *big.Rat
	compare := func(rule string, bound *big.Rat, breaks func(order int) bool) {
		if bound == nil {
			return
		}
		v.spend(measure(number))
		if value == nil {
			value = rational(number)
		}
		if breaks(value.Cmp(bound)) {
			v.fail(failure{rule: rule, bound: bound})
		}
	}
	compare("minimum", n.minimum, func(order int) bool { return order < 0 })
	compare("maximum", n.maximum, func(order int) bool { return order > 0 })
	compare("exclusiveMinimum", n.exclusiveMinimum, func(order int) bool { return order <= 0 })
	compare("exclusiveMaximum", n.exclusiveMaximum, func(order int) bool { return order >= 0 })
	if n.multipleOf == nil {
		return
	}
	v.spend(2 * measure(number))
	if !new(big.Rat).Quo(rational(number), n.multipleOf).IsInt() {
		v.fail(failure{rule: "multipleOf", bound: n.multipleOf})
	}
}
