package schemas

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
)

// Costs in steps; MaxSteps says how long one is. They are what the slowest values that were found
// need, so that most evaluations take less time than their steps.
const (
	visitCost     = 50  // of a schema that is applied to a value
	failureCost   = 60  // of keeping why a value is invalid
	itemCost      = 10  // of an item of an array
	memberCost    = 30  // of a member of an object
	requireCost   = 40  // of a required name
	matchCost     = 20  // of a name that is compared with a pattern
	scopeCost     = 3   // of a resource around a $dynamicRef
	evaluatedCost = 15  // of one item or member of which is noted whether it is evaluated
	formatCost    = 5   // of a byte of a string with a format
	stringCost    = 3   // of comparing a string, and of each 64 bytes of it
	numberCost    = 120 // of comparing a number, for each 32 digits
)

// unlimited is a number of steps that no evaluation takes.
const unlimited = math.MaxInt

// errSteps ends an evaluation that takes too many steps. It is thrown, since it ends all of them.
var errSteps = errors.New("too many steps")

// evaluation applies one schema to one value.
type evaluation struct {
	left  int             // steps that it may still take
	check int             // steps left when done is looked at again
	done  <-chan struct{} // closed when nobody waits for the result any more
	path  []token         // to the part of the value that is looked at
}

// token is one step of a path: the name of a member, or the index of an item.
type token struct {
	name   string
	index  int
	isItem bool
}

// scope is a resource that the evaluation is in, and those around it, in which a $dynamicRef looks.
type scope struct {
	resource *resource
	outer    *scope
	depth    int // how many are around it
}

func (s *scope) enter(r *resource) *scope {
	inner := &scope{resource: r, outer: s}
	if s != nil {
		inner.depth = s.depth + 1
	}
	return inner
}

// outermost returns the schema with a dynamic anchor in the outermost resource that has one.
func (s *scope) outermost(anchor string, otherwise *node) *node {
	for ; s != nil; s = s.outer {
		if n := s.resource.dynamic[anchor]; n != nil {
			otherwise = n
		}
	}
	return otherwise
}

// evaluate returns the problems of a value, or errSteps when it takes too many steps or ctx ends.
func evaluate(ctx context.Context, n *node, value any, steps int) (problems []Problem, err error) {
	defer func() {
		if r := recover(); r == errSteps {
			problems, err = nil, errSteps
		} else if r != nil {
			panic(r)
		}
	}()
	e := &evaluation{left: steps, check: steps, done: ctx.Done()}
	found, _ := e.apply(n, value, frame{})
	return problemsOf(found), nil
}

// spend takes steps off the budget, and panics with errSteps when none are left.
func (e *evaluation) spend(steps int) {
	e.left -= steps
	if e.left < 0 {
		panic(errSteps)
	}
	if e.left > e.check {
		return
	}
	e.check = e.left - MaxSteps/1000
	select {
	case <-e.done:
		panic(errSteps)
	default:
	}
}

// frame is what a schema is applied in.
type frame struct {
	scope     *scope
	mute      bool       // only whether the value is valid matters, not why
	evaluated *evaluated // what the schemas around have evaluated of the value; nil if nobody asks
}

// visit is one schema that is applied to one value.
type visit struct {
	*evaluation
	frame
	node    *node
	invalid bool
	found   []*failure // why; nil if mute
}

// apply applies a schema to a value. It returns why the value is invalid, unless that is mute.
func (e *evaluation) apply(n *node, value any, in frame) (found []*failure, valid bool) {
	e.spend(visitCost)
	around := in.evaluated
	if n.verdict != nil && *n.verdict {
		return nil, true
	}
	v := &visit{evaluation: e, frame: in, node: n}
	if n.verdict != nil {
		v.fail(failure{rule: "false"})
		return v.found, false
	}
	if v.scope == nil || v.scope.resource != n.resource {
		v.scope = in.scope.enter(n.resource)
	}
	if v.exact(value); v.invalid {
		return v.found, false
	}
	v.evaluated = v.account(value)
	v.typed(value)
	v.references(value)
	v.combinations(value)
	v.unevaluated(value)
	if !v.invalid {
		around.merge(v.evaluated)
	}
	return v.found, !v.invalid
}

// fail notes that the value is invalid.
func (v *visit) fail(f failure) {
	v.invalid = true
	if !v.mute {
		v.found = append(v.found, v.record(f))
	}
}

// record notes where a failure is.
func (v *visit) record(f failure) *failure {
	v.spend(failureCost + len(v.path))
	f.node, f.path = v.node, slices.Clone(v.path)
	return &f
}

// failed notes the failures of schemas that apply to the value or to parts of it.
func (v *visit) failed(found []*failure) {
	v.invalid = true
	v.found = append(v.found, found...)
}

// decided reports whether nothing more is to be found out.
func (v *visit) decided() bool { return v.invalid && v.mute }

// exact looks at the keywords that make all others pointless when the value breaks them.
func (v *visit) exact(value any) {
	n := v.node
	if n.exactCost > 0 {
		v.spend(n.exactCost)
	}
	kind := typeOf(value)
	number, _ := value.(json.Number)
	if n.types != 0 && n.types&kind == 0 && !(kind == typeNumber && n.types&typeInteger != 0 && v.integer(number)) {
		v.fail(failure{rule: "type", value: value})
		return
	}
	if n.constant != nil && !equal(value, *n.constant) {
		v.fail(failure{rule: "const"})
		return
	}
	if n.enum != nil && !slices.ContainsFunc(n.enum, func(one any) bool { return equal(value, one) }) {
		v.fail(failure{rule: "enum"})
		return
	}
	if text, ok := value.(string); ok && n.isFormat != nil {
		v.spend(formatCost * len(text))
		if !n.isFormat(text) {
			v.fail(failure{rule: "format", value: value})
		}
	}
}

func (v *visit) integer(n json.Number) bool {
	v.spend(measure(n))
	return isInteger(n)
}

// typed looks at the keywords for values of one type.
func (v *visit) typed(value any) {
	switch value := value.(type) {
	case map[string]any:
		v.object(value)
	case []any:
		v.array(value)
	case string:
		v.text(value)
	case json.Number:
		v.number(value)
	}
}

// references applies the schemas that the schema refers to.
func (v *visit) references(value any) {
	for _, to := range v.node.references {
		v.refer(to, value)
	}
	if d := v.node.dynamic; d != nil && !v.decided() {
		to := d.node
		if d.anchor != "" && to.dynamicAnchor == d.anchor {
			v.spend(scopeCost * v.scope.depth)
			to = v.scope.outermost(d.anchor, to)
		}
		v.refer(to, value)
	}
}

func (v *visit) refer(to *node, value any) {
	if v.decided() {
		return
	}
	if found, valid := v.same(to, value, v.mute); !valid {
		v.failed(v.group(found))
	}
}

// same applies another schema to the value.
func (v *visit) same(to *node, value any, mute bool) ([]*failure, bool) {
	return v.apply(to, value, frame{v.scope, v.mute || mute, v.evaluated})
}

// group returns failures as one, which alternatives count as one.
func (v *visit) group(found []*failure) []*failure {
	if v.mute {
		return nil
	}
	return []*failure{v.record(failure{causes: found})}
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
