package descriptive

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Append appends the canonical form: no white space, members in the order of [Metadata]'s fields
// and properties sorted by name, numbers as they were written, strings with as few escapes as JSON
// allows. Empty members are omitted; the zero Metadata is {}. A number or a string that Validate
// rejects may become invalid or different JSON.
func (m Metadata) Append(b []byte) []byte {
	o := beginObject(b)
	for i := range members {
		start := o.begin(members[i].name)
		o.b = members[i].append(o.b, &m)
		o.end(start)
	}
	return o.close()
}

func (c Creator) append(b []byte) []byte {
	o := beginObject(b)
	o.texts("name", c.Name, "givenName", c.GivenName, "familyName", c.FamilyName, "type", c.Type, "orcid", c.ORCID)
	start := o.begin("affiliations")
	o.b = appendTexts(o.b, c.Affiliations)
	o.end(start)
	return o.close()
}

func (r Related) append(b []byte) []byte {
	o := beginObject(b)
	o.texts("identifier", r.Identifier, "type", r.Type, "relation", r.Relation)
	return o.close()
}

func (d Date) append(b []byte) []byte {
	o := beginObject(b)
	o.texts("date", d.Date, "type", d.Type, "information", d.Information)
	return o.close()
}

func (f Funding) append(b []byte) []byte {
	o := beginObject(b)
	o.texts("funder", f.Funder, "funderId", f.FunderID, "award", f.Award, "title", f.Title, "uri", f.URI)
	return o.close()
}

func (p Place) append(b []byte) []byte {
	o := beginObject(b)
	o.texts("name", p.Name)
	o.number("latitude", p.Latitude)
	o.number("longitude", p.Longitude)
	start := o.begin("box")
	o.b = p.Box.append(o.b)
	o.end(start)
	return o.close()
}

// append appends nothing for the zero Box.
func (x Box) append(b []byte) []byte {
	if x == (Box{}) {
		return b
	}
	o := beginObject(b)
	o.number("west", x.West)
	o.number("east", x.East)
	o.number("south", x.South)
	o.number("north", x.North)
	return o.close()
}

// appendProperties appends a group, sorted whatever the order of g; it appends nothing for an empty
// one.
func appendProperties(b []byte, g Group) []byte {
	if len(g) == 0 {
		return b
	}
	return g.append(b)
}

// JSON returns the canonical form of the group; an empty one is {}.
func (g Group) JSON() string { return string(g.append(nil)) }

func (g Group) append(b []byte) []byte {
	if !slices.IsSortedFunc(g, byName) {
		g = slices.SortedStableFunc(slices.Values(g), byName)
	}
	b = append(b, '{')
	for i, p := range g {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(quote(b, p.Name), ':')
		b = p.Value.append(b)
	}
	return append(b, '}')
}

func byName(p, q Property) int { return cmp.Compare(p.Name, q.Name) }

func (v Value) append(b []byte) []byte {
	switch v.form {
	case Decimal, Truth:
		return append(b, v.text...)
	case Quantity:
		b = append(append(b, `{"value":`...), v.text...)
		b = quote(append(b, `,"unit":`...), v.unit)
		return append(b, '}')
	case List:
		b = append(b, '[')
		for i, element := range v.list {
			if i > 0 {
				b = append(b, ',')
			}
			b = element.append(b)
		}
		return append(b, ']')
	case Properties:
		return v.group.append(b)
	}
	return quote(b, v.text)
}

// object is a JSON object that is being written.
type object struct {
	b     []byte
	start int // where its first member begins
}

func beginObject(b []byte) object {
	b = append(b, '{')
	return object{b, len(b)}
}

func (o *object) close() []byte { return append(o.b, '}') }

// begin writes the name of a member, whose value follows, and returns the position of the name.
func (o *object) begin(name string) (start int) {
	start = len(o.b)
	if start > o.start {
		o.b = append(o.b, ',')
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
	return start
}

// end removes the name of a member if no value follows it. The name begins at position start.
func (o *object) end(start int) {
	if o.b[len(o.b)-1] == ':' {
		o.b = o.b[:start]
	}
}

// texts writes strings after their names, and omits empty ones.
func (o *object) texts(named ...string) {
	for i := 0; i < len(named); i += 2 {
		if named[i+1] != "" {
			o.begin(named[i])
			o.b = quote(o.b, named[i+1])
		}
	}
}

func (o *object) number(name string, n Number) {
	if n != "" {
		o.begin(name)
		o.b = append(o.b, n...)
	}
}

// quote appends a string as JSON, and replaces invalid UTF-8.
func quote(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

func appendText(b []byte, text string) []byte {
	if text == "" {
		return b
	}
	return quote(b, text)
}

func appendInteger(b []byte, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(b, int64(n), 10)
}

func appendTexts(b []byte, texts []string) []byte {
	return appendList(b, texts, func(text string, b []byte) []byte { return quote(b, text) })
}

// appendList appends nothing for an empty list.
func appendList[T any](b []byte, list []T, element func(T, []byte) []byte) []byte {
	if len(list) == 0 {
		return b
	}
	for i, e := range list {
		if i == 0 {
			b = append(b, '[')
		} else {
			b = append(b, ',')
		}
		b = element(e, b)
	}
	return append(b, ']')
}
