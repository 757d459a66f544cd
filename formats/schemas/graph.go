package schemas

import "fmt"

// chains finds the schemas that apply to one value through each other.
type chains struct {
	anchored map[string][]*node // targets of a $dynamicRef, by anchor
	lengths  map[*node]int      // of the longest chain from a schema; -1 while it is being computed
}

// checkChains rejects a schema that applies itself to the same value again, or whose chains are too
// long. So every evaluation ends, and its calls are not nested too deep.
func checkChains(nodes []*node) error {
	c := chains{anchored: map[string][]*node{}, lengths: map[*node]int{}}
	c.anchor(nodes)
	longest := 0
	for _, n := range nodes {
		length, err := c.from(n)
		if err != nil {
			return err
		}
		longest = max(longest, length)
	}
	if longest > MaxChain {
		return &Error{Rule: "depth", Message: fmt.Sprintf("up to %d schemas apply to one value through each other; at most %d are allowed", longest, MaxChain)}
	}
	return nil
}

// anchor records the dynamic anchors of the nodes' resources, and of the metaschema.
func (c *chains) anchor(nodes []*node) {
	resources := map[*resource]bool{}
	for _, n := range nodes {
		resources[n.resource] = true
	}
	for _, d := range metaschemas() {
		resources[d.resources[""]] = true
	}
	for r := range resources {
		for name, n := range r.dynamic {
			c.anchored[name] = append(c.anchored[name], n)
		}
	}
}

// from returns the length of the longest chain of schemas that begins with n.
func (c *chains) from(n *node) (int, error) {
	switch length := c.lengths[n]; {
	case length < 0:
		return 0, &Error{Path: n.pointer, Rule: "cycle", Message: "this schema refers to itself for the same value, not for a part of it"}
	case length > 0:
		return length, nil
	}
	c.lengths[n] = -1
	longest := 0
	next := inPlace(n)
	if n.dynamic != nil {
		next = append(next, c.anchored[n.dynamic.anchor]...)
	}
	for _, to := range next {
		length, err := c.from(to)
		if err != nil {
			return 0, err
		}
		longest = max(longest, length)
	}
	c.lengths[n] = longest + 1
	return longest + 1, nil
}

// inPlace returns the schemas that n applies to the value itself, except those found only by the
// anchor of a $dynamicRef.
func inPlace(n *node) []*node {
	all := make([]*node, 0, 8)
	for _, list := range [][]*node{n.references, n.allOf, n.anyOf, n.oneOf} {
		all = append(all, list...)
	}
	for _, to := range []*node{n.not, n.condition, n.then, n.other} {
		if to != nil {
			all = append(all, to)
		}
	}
	if n.dynamic != nil {
		all = append(all, n.dynamic.node)
	}
	for _, d := range n.dependentSchemas {
		all = append(all, d.node)
	}
	return all
}
