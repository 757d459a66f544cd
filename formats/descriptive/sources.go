package descriptive

import (
	"maps"
	"slices"

	"github.com/oklog/ulid/v2"
	"golang.org/x/text/unicode/norm"
)

// SchemaVersion identifies the version of a schema with which properties were entered. The zero
// value means no schema.
type SchemaVersion struct {
	ID      string `json:"id"`      // of the schema, a ULID
	Version int    `json:"version"` // from 1
}

func (s SchemaVersion) append(b []byte) []byte {
	if s == (SchemaVersion{}) {
		return b
	}
	o := beginObject(b)
	o.texts("id", s.ID)
	if s.Version != 0 {
		o.begin("version")
		o.b = appendInteger(o.b, s.Version)
	}
	return o.close()
}

func (s SchemaVersion) check(at *checker) {
	at.in("id", func() {
		if id, err := ulid.ParseStrict(s.ID); err != nil || id.String() != s.ID {
			at.refuse("must be the id of a schema")
		}
	})
	at.in("version", func() {
		if s.Version < 1 {
			at.refuse("must be the number of a version, 1 or more")
		}
	})
}

// Sources maps outermost properties that were filled automatically to their source.
type Sources map[string]string

// The sources of properties. A person's value has no source; a sidecar takes precedence over a
// header.
const (
	FromHeader  = "header"  // the file itself
	FromSidecar = "sidecar" // a file next to it
)

var sourceWords = []string{FromHeader, FromSidecar}

func (s Sources) append(b []byte) []byte {
	if len(s) == 0 {
		return b
	}
	o := beginObject(b)
	for i, name := range slices.Sorted(maps.Keys(s)) {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(quote(o.b, name), ':')
		o.b = quote(o.b, s[name])
	}
	return o.close()
}

func (s Sources) check(c *checker, of Group) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		c.enter(name)
		if _, ok := of.Get(name); !ok {
			c.refuse("must be the source of an existing property")
		}
		c.oneOf(s[name], sourceWords)
		c.leave()
	}
}

// normalize normalizes names as names of properties.
func (s Sources) normalize() (Sources, error) {
	if len(s) == 0 {
		return nil, nil
	}
	normal := make(Sources, len(s))
	for name, from := range s {
		name = norm.NFC.String(name)
		if _, twice := normal[name]; twice {
			return nil, &Error{Root + "." + sources + "." + shorten(name), "must not occur twice"}
		}
		normal[name] = from
	}
	return normal, nil
}

// Added returns the name of a new or changed entry; of several, the first by name.
func (s Sources) Added(before Sources) (name string, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if s[name] != before[name] {
			return name, true
		}
	}
	return "", false
}

// KeepSources removes the sources of changed and new properties: their values now come from a
// person.
func (m *Metadata) KeepSources(before Metadata) {
	kept := Sources{}
	for name, from := range m.Sources {
		was, had := before.Properties.Get(name)
		now, has := m.Properties.Get(name)
		if had && has && now.Equal(was) && from == before.Sources[name] {
			kept[name] = from
		}
	}
	m.Sources = kept
}
