package schemas

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
)

// Costs in steps; see MaxSteps for the time of a step. They match the slowest known values, so most
// evaluations take less time.
const (
	visitCost     = 50  // of applying a schema to a value
	failureCost   = 60  // of recording a failure
	itemCost      = 10  // of an item of an array
	memberCost    = 30  // of a member of an object
	requireCost   = 40  // of a required name
	matchCost     = 20  // of matching a name with a pattern
	scopeCost     = 3   // of a resource around a $dynamicRef
	evaluatedCost = 15  // of recording an evaluated item or member
	formatCost    = 5   // of a byte of a string with a format
	stringCost    = 3   // of comparing a string, and of each 64 bytes of it
	numberCost    = 120 // of comparing a number, for each 32 digits
)

// unlimited is a number of steps that no evaluation reaches.
const unlimited = math.MaxInt

// errSteps is the panic that aborts an evaluation with too many steps.
var errSteps = errors.New("too many steps")

// evaluation applies one schema to one value.
type evaluation struct {
	left  int             // remaining steps
	check int             // remaining steps at the next check of done
	done  <-chan struct{} // closed when the caller no longer waits for the result
	path  []token         // path to the current part of the value
}

// token is one step of a path: the name of a member, or the index of an item.
type token struct {
	name   string
	index  int
	isItem bool
}

// scope is a resource of the evaluation and its outer resources, for $dynamicRef.
type scope struct {
	resource *resource
	outer    *scope
	depth    int // number of outer resources
}

func (s *scope) enter(r *resource) *scope {
	inner := &scope{resource: r, outer: s}
	if s != nil {
		inner.depth = s.depth + 1
	}
	return inner
}

// outermost returns the schema with a dynamic anchor in the outermost resource that has one,
// otherwise the given node.
func (s *scope) outermost(anchor string, otherwise *node) *node {
	for ; s != nil; s = s.outer {
		if n := s.resource.dynamic[anchor]; n != nil {
			otherwise = n
		}
	}
	return otherwise
}

// evaluate returns the problems of a value, or errSteps if it takes too many steps or ctx ends.
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

// spend takes steps from the budget, and panics with errSteps when it is empty.
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

// frame is the context in which a schema is applied.
type frame struct {
	scope     *scope
	mute      bool       // only the verdict matters, not the reasons
	evaluated *evaluated // parts of the value that outer schemas have evaluated; nil if unused
}

// visit is the application of one schema to one value.
type visit struct {
	*evaluation
	frame
	node    *node
	invalid bool
	found   []*failure // failures; nil if mute
}

// apply applies a schema to a value. It returns the failures, unless in is mute.
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

// fail records that the value is invalid.
func (v *visit) fail(f failure) {
	v.invalid = true
	if !v.mute {
		v.found = append(v.found, v.record(f))
	}
}

// record sets the path of a failure.
func (v *visit) record(f failure) *failure {
	v.spend(failureCost + len(v.path))
	f.node, f.path = v.node, slices.Clone(v.path)
	return &f
}

// failed records the failures of schemas that apply to the value or to parts of it.
func (v *visit) failed(found []*failure) {
	v.invalid = true
	v.found = append(v.found, found...)
}

// decided reports whether the rest of the evaluation cannot change the result.
func (v *visit) decided() bool { return v.invalid && v.mute }

// exact checks enum and const. If the value violates them, the other keywords do not matter.
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

// typed checks the keywords for values of one type.
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

// same applies another schema to the same value.
func (v *visit) same(to *node, value any, mute bool) ([]*failure, bool) {
	return v.apply(to, value, frame{v.scope, v.mute || mute, v.evaluated})
}

// group returns failures as one failure, for alternatives.
func (v *visit) group(found []*failure) []*failure {
	if v.mute {
		return nil
	}
	return []*failure{v.record(failure{causes: found})}
}

// measure returns the greatest number of steps for comparing a value with another one.
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
