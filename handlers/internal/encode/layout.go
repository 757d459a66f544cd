package encode

import (
	"regexp"
	"strings"
)

// value appends a value of an item.
type value[T any] func(b []byte, item *T) []byte

// fixed writes a value of constant length over a blank in the text, at b[0].
type fixed[T any] struct {
	length int
	put    func(b []byte, item *T)
}

// Layout is a prepared template: constant text with values in between. Values of constant length
// are blanks in the text, which halves the number of appends.
type Layout[T any] []part[T]

type part[T any] struct {
	text   string
	blanks []blank[T]
	value  value[T] // after the text; nil: no value
}

type blank[T any] struct {
	at  int // offset in the text
	put func(b []byte, item *T)
}

var templateNames = regexp.MustCompile(`\{(\w+)\}`)

// memberIf returns a value that appends a member only for items that have it.
func memberIf[T any](member string, has func(*T) bool) value[T] {
	return func(b []byte, item *T) []byte {
		if has(item) {
			b = append(b, member...)
		}
		return b
	}
}

// builder builds a layout from left to right.
type builder[T any] struct {
	values  map[string]value[T]
	fixed   map[string]fixed[T]
	layout  Layout[T]
	part[T] // the unfinished part
}

// template adds text, and calls insert for the names in it.
func (m *builder[T]) template(text string, names *regexp.Regexp, insert func(name string)) {
	at := 0
	for _, found := range names.FindAllStringIndex(text, -1) {
		m.text += text[at:found[0]]
		insert(text[found[0]+1 : found[1]-1])
		at = found[1]
	}
	m.text += text[at:]
}

// field adds a value.
func (m *builder[T]) field(name string) {
	f, ok := m.fixed[name]
	if !ok {
		m.end(m.values[name])
		return
	}
	m.blanks = append(m.blanks, blank[T]{len(m.text), f.put})
	m.text += strings.Repeat(" ", f.length)
}

// end finishes a part.
func (m *builder[T]) end(value value[T]) {
	m.value = value
	m.layout, m.part = append(m.layout, m.part), part[T]{}
}

// finish finishes the layout.
func (m *builder[T]) finish() Layout[T] {
	m.end(nil)
	return m.layout
}

// indented indents each line of a template, except the first.
func indented(template, indent string) string { return strings.ReplaceAll(template, "\n", "\n"+indent) }

// Append appends an item.
func (l Layout[T]) Append(b []byte, item *T) []byte {
	for i := range l {
		p, from := &l[i], len(b)
		b = append(b, p.text...)
		for j := range p.blanks {
			p.blanks[j].put(b[from+p.blanks[j].at:], item)
		}
		if p.value != nil {
			b = p.value(b, item)
		}
	}
	return b
}
