package schemas

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Costs in steps; MaxSteps says how long one is.
const (
	visitCost  = 100 // of a schema that looks at a value: the frames and the bookkeeping of the library
	stringCost = 3   // of comparing a string, and of each 64 bytes of it
	numberCost = 120 // of comparing a number, for each 32 digits

	unevaluatedCost = 150 // of the account of one item or member, which each schema makes anew
	missingCost     = 40  // of a required name that is not there
)

// errSteps ends a validation that takes too many steps. It is thrown through the library, which has no other way out.
var errSteps = errors.New("too many steps")

// program is a compiled schema that counts what it does. One validation at a time uses it.
type program struct {
	root  *jsonschema.Schema
	graph *graph
	left  int             // steps that the validation has left
	check int             // steps left when done is looked at again
	done  <-chan struct{} // closed when nobody waits for the validation any more
}

// instrument has each schema say, before it looks at a value, what that will cost. The library asks a schema's format first, after its
// type, const and enum; so those are counted by who applies the schema.
func (p *program) instrument() {
	costs := p.graph.costs()
	for _, s := range p.graph.schemas {
		if s.Bool != nil {
			continue
		}
		price, check, name := costs[s], checkFormat(s.Format), ""
		if s.Format != nil {
			name = s.Format.Name
		}
		s.Format = &jsonschema.Format{Name: name, Validate: func(v any) error {
			p.spend(price.of(v))
			return check(v)
		}}
	}
}

// spend takes steps off the budget, and panics with errSteps when none are left.
func (p *program) spend(steps int) {
	p.left -= steps
	if p.left < 0 {
		panic(errSteps)
	}
	if p.left > p.check {
		return
	}
	p.check = p.left - MaxSteps/1000
	select {
	case <-p.done:
		panic(errSteps)
	default:
	}
}

// run validates a value. It returns errSteps when that takes too long, and the *jsonschema.ValidationError of a value that is not valid.
func (p *program) run(ctx context.Context, value any) (err error) {
	defer func() {
		if r := recover(); r == errSteps {
			err = errSteps
		} else if r != nil {
			panic(r)
		}
	}()
	p.left, p.check, p.done = MaxSteps, MaxSteps, ctx.Done()
	return p.root.Validate(value)
}

// cost is what one schema costs, apart from the schemas that it applies, which count for themselves once they are entered.
type cost struct {
	visit   int // each time
	item    int // for each item of an array
	member  int // for each member of an object
	names   int // for each byte of the name of a member
	text    int // for each byte of a string
	numbers int // times the size of a number
	unique  bool
}

// of returns the steps that the schema takes for a value.
func (c cost) of(v any) int {
	switch v := v.(type) {
	case map[string]any:
		steps := c.visit + len(v)*c.member
		for name := range v {
			steps += len(name) * c.names
		}
		return steps
	case []any:
		steps := c.visit + len(v)*c.item
		if c.unique {
			times := len(v) // the library compares up to 20 items with each other, and hashes more
			if len(v) > 20 {
				times = 2
			}
			steps += times * measure(v)
		}
		return steps
	case string:
		return c.visit + len(v)*c.text
	case json.Number:
		return c.visit + c.numbers*measure(v)
	}
	return c.visit
}

// measure returns the steps that comparing a value with another one takes at most.
func measure(v any) int {
	steps := 1
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			steps += 10 + measure(name) + measure(member)
		}
	case []any:
		for _, item := range v {
			steps += measure(item)
		}
	case string:
		return stringCost * (1 + len(v)/64)
	case json.Number:
		return numberCost * (1 + len(v)/32)
	}
	return steps
}

// costs returns what each schema costs.
func (g *graph) costs() map[*jsonschema.Schema]cost {
	heads := map[*jsonschema.Schema]int{nil: 0}
	largest := 0
	for _, s := range g.schemas {
		heads[s] = g.head(s)
		largest = max(largest, heads[s])
	}
	sum := func(all []*jsonschema.Schema) (total int) {
		for _, s := range all {
			total += heads[s]
		}
		return total
	}
	costs := map[*jsonschema.Schema]cost{}
	for _, s := range g.schemas {
		c := cost{visit: heads[s] + sum(inPlace(s)) + sum(s.PrefixItems) + required(s), item: 10 + sum(items(s)), member: 30 + sum(members(s)), text: 1, unique: s.UniqueItems}
		if s.DynamicRef != nil {
			c.visit += largest
		}
		dearest := 0
		for _, property := range s.Properties {
			dearest = max(dearest, heads[property])
		}
		c.member += dearest
		for expression, sub := range s.PatternProperties {
			c.member += 20 + heads[sub]
			c.names += expression.(*pattern).size
		}
		if s.Pattern != nil {
			c.text += s.Pattern.(*pattern).size
		}
		for _, bound := range []bool{s.Minimum != nil, s.Maximum != nil, s.ExclusiveMinimum != nil, s.ExclusiveMaximum != nil, s.MultipleOf != nil, s.MultipleOf != nil} {
			if bound {
				c.numbers++
			}
		}
		if g.unevaluated {
			c.item, c.member = c.item+unevaluatedCost, c.member+unevaluatedCost
		}
		costs[s] = c
	}
	return costs
}

// head returns what a schema costs before its format is asked. The library looks for cycles along the chain of schemas each time.
func (g *graph) head(s *jsonschema.Schema) int {
	steps := visitCost + g.chain
	if s.Const != nil {
		steps += measure(*s.Const)
	}
	if s.Enum != nil {
		steps += measure(s.Enum.Values)
	}
	return steps
}

// required returns the steps that looking for the names takes that a schema requires.
func required(s *jsonschema.Schema) int {
	names := len(s.Required)
	for _, more := range s.DependentRequired {
		names += 1 + len(more)
	}
	for _, more := range s.Dependencies {
		required, _ := more.([]string)
		names += 1 + len(required)
	}
	return missingCost * names
}
