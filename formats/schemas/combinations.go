package schemas

// combinations applies the combined schemas that apply to the value itself.
func (v *visit) combinations(value any) {
	v.all(value)
	v.any(value)
	v.one(value)
	if v.decided() {
		return
	}
	n := v.node
	if n.not != nil {
		if _, valid := v.same(n.not, value, true); valid {
			v.fail(failure{rule: "not"})
		}
	}
	if n.condition == nil {
		return
	}
	next := n.then
	if _, holds := v.same(n.condition, value, true); !holds {
		next = n.other
	}
	if next == nil {
		return
	}
	if found, valid := v.same(next, value, false); !valid {
		v.failed(found)
	}
}

func (v *visit) all(value any) {
	var causes []*failure
	fits := true
	for _, to := range v.node.allOf {
		if v.decided() || v.mute && !fits {
			break
		}
		if found, valid := v.same(to, value, false); !valid {
			fits, causes = false, append(causes, found...)
		}
	}
	if !fits {
		v.failed(v.group(causes))
	}
}

// any looks for a matching alternative, and for all of them if they determine which parts are
// evaluated.
func (v *visit) any(value any) {
	alternatives := v.node.anyOf
	if len(alternatives) == 0 || v.decided() {
		return
	}
	var causes []*failure
	fits := false
	for _, to := range alternatives {
		found, valid := v.same(to, value, false)
		if fits = fits || valid; fits && v.evaluated == nil {
			return
		}
		causes = append(causes, v.joined(found)...)
	}
	if !fits {
		v.fail(failure{rule: "anyOf", causes: causes})
	}
}

func (v *visit) one(value any) {
	alternatives := v.node.oneOf
	if len(alternatives) == 0 || v.decided() {
		return
	}
	var causes []*failure
	fits := 0
	for _, to := range alternatives {
		found, valid := v.same(to, value, fits > 0)
		causes = append(causes, v.joined(found)...)
		if !valid {
			continue
		}
		if fits++; fits == 2 {
			v.fail(failure{rule: "oneOf"})
			return
		}
	}
	if fits == 0 {
		v.fail(failure{rule: "oneOf", causes: causes})
	}
}

// joined returns the failures of one schema as one failure, or nil.
func (v *visit) joined(found []*failure) []*failure {
	if len(found) < 2 {
		return found
	}
	return v.group(found)
}

// unevaluated applies the schemas to the parts that no other schema has evaluated.
func (v *visit) unevaluated(value any) {
	n := v.node
	switch value := value.(type) {
	case map[string]any:
		if n.unevaluatedProperties == nil {
			return
		}
		for name, member := range value {
			if v.decided() {
				return
			}
			if !v.evaluated.hasName(name) {
				v.part(n.unevaluatedProperties, member, token{name: name})
			}
		}
		v.evaluated.noteAll()
	case []any:
		if n.unevaluatedItems == nil {
			return
		}
		for i, item := range value {
			if v.decided() {
				return
			}
			if !v.evaluated.hasItem(i) {
				v.part(n.unevaluatedItems, item, token{index: i, isItem: true})
			}
		}
		v.evaluated.noteAll()
	}
}

// account returns a new record of evaluated parts, if this schema or an outer one needs it.
func (v *visit) account(value any) *evaluated {
	n := v.node
	wanted, size := v.evaluated != nil, 0
	switch value := value.(type) {
	case map[string]any:
		wanted, size = wanted || n.unevaluatedProperties != nil, len(value)
	case []any:
		wanted, size = wanted || n.unevaluatedItems != nil, len(value)
	default:
		return nil
	}
	if !wanted {
		return nil
	}
	v.spend(evaluatedCost * size)
	return &evaluated{}
}

// evaluated records the evaluated parts of one object or array. A nil one records nothing.
type evaluated struct {
	all    bool
	names  map[string]bool
	before int // all items before this index
	items  map[int]bool
}

func (s *evaluated) noteAll() {
	if s != nil {
		s.all = true
	}
}

func (s *evaluated) noteName(name string) {
	if s == nil {
		return
	}
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
}

func (s *evaluated) noteItems(before int) {
	if s != nil {
		s.before = max(s.before, before)
	}
}

func (s *evaluated) noteItem(i int) {
	if s == nil {
		return
	}
	if s.items == nil {
		s.items = map[int]bool{}
	}
	s.items[i] = true
}

func (s *evaluated) hasName(name string) bool { return s.all || s.names[name] }
func (s *evaluated) hasItem(i int) bool       { return s.all || i < s.before || s.items[i] }

// merge adds the parts of the same value that another schema has evaluated.
func (s *evaluated) merge(other *evaluated) {
	if s == nil || other == nil {
		return
	}
	s.all = s.all || other.all
	s.noteItems(other.before)
	for name := range other.names {
		s.noteName(name)
	}
	for i := range other.items {
		s.noteItem(i)
	}
}
