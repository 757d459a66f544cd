package html

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"labshelf/formats/descriptive"
	"labshelf/metadata"
)

// Addresses return the addresses of objects. Page addresses are absolute. A page links to their
// paths, so that it works under any host name.
type Addresses struct {
	Page    func(kind, id string) string // address of an object's page
	Record  func(kind, id string) string // address of an object's record
	File    func(id string) string       // address of a resource's file
	Archive func(id string) string       // address of an archive of a set
}

// Object is a dataspace, a set or a resource, with the objects that contain it.
type Object struct {
	metadata.Record
	Kind        string // dataspaces, sets or resources, as in the addresses
	Name, Title string
	Description string
	Said        descriptive.Metadata
	Above       []Object // containing objects, starting at the top
	File        *metadata.Resource
}

// OfDataspace returns the Object of a dataspace.
func OfDataspace(d metadata.Dataspace) (Object, error) {
	o := Object{Record: d.Record, Kind: "dataspaces", Name: d.Name, Title: d.Title, Description: d.Description}
	return o, o.read(d.Descriptive)
}

// OfSet returns the Object of a set in a dataspace.
func OfSet(set metadata.Set, in Object) (Object, error) {
	o := Object{Record: set.Record, Kind: "sets", Name: set.Name, Title: set.Title, Description: set.Description, Above: []Object{in}}
	return o, o.read(set.Descriptive)
}

// OfResource returns the Object of a resource in a set.
func OfResource(r metadata.Resource, in Object) (Object, error) {
	o := Object{Record: r.Record, Kind: "resources", Name: r.Name, Description: r.Description, Above: append(in.Above[:len(in.Above):len(in.Above)], in), File: &r}
	return o, o.read(r.Descriptive)
}

func (o *Object) read(stored string) (err error) {
	if stored != "" {
		o.Said, err = descriptive.Parse([]byte(stored))
	}
	return err
}

// Called returns the title of the object, or its name.
func (o Object) Called() string { return cmp.Or(o.Title, o.Name) }

// Page returns the page of the object, with its title, its containers and its metadata. at provides
// the addresses of links.
func (o Object) Page(at Addresses) *Page {
	p := &Page{Title: o.Called(), Description: line(cmp.Or(o.Description, o.summary())), Canonical: at.Page(o.Kind, o.ID.String()), Lead: o.Description}
	for _, above := range o.Above {
		p.Up = append(p.Up, Link{above.Called(), at.Page(above.Kind, above.ID.String())})
	}
	p.Facts = o.facts(at)
	return p
}

// Deleted returns the page of a deleted object.
func (o Object) Deleted(at Addresses) *Page {
	return &Page{
		Title: o.Called(), Canonical: at.Page(o.Kind, o.ID.String()),
		Notice: "This was deleted on " + day(o.Modified.Time()) + ".",
	}
}

// summary describes an object without a description.
func (o Object) summary() string {
	switch {
	case o.Kind == "resources":
		return "A file of the data set “" + o.Above[len(o.Above)-1].Called() + "” in “" + o.Above[0].Called() + "”, with its metadata."
	case o.Kind == "sets":
		return "The data set “" + o.Called() + "” of “" + o.Above[0].Called() + "”: its files, and their metadata."
	}
	return "The data sets of “" + o.Called() + "”, with their files and metadata."
}

// longestLine is the length of a description that search engines show, in characters.
const longestLine = 300

// line returns the beginning of a text as one line.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > longestLine {
		return string(runes[:longestLine]) + "…"
	}
	return text
}

// facts returns the metadata of the object as names and values.
func (o Object) facts(at Addresses) (facts []Fact) {
	add := func(name string, values ...Link) {
		if len(values) > 0 && values[0].Text != "" {
			facts = append(facts, Fact{name, values})
		}
	}
	m := o.Said
	add("Creators", each(m.Creators, creatorLink)...)
	add("Publisher", Link{Text: m.Publisher})
	if m.PublicationYear != 0 {
		add("Published", Link{Text: strconv.Itoa(m.PublicationYear)})
	}
	add("Type", Link{Text: m.ResourceType})
	add("Licence", Link{m.Licence, licence(m.Licence)})
	add("Keywords", Link{Text: strings.Join(m.Keywords, ", ")})
	add("Tags", Link{Text: strings.Join(m.Tags, ", ")})
	add("Dates", each(m.Dates, func(d descriptive.Date) Link {
		return Link{Text: strings.TrimSpace(d.Type + " " + d.Date + " " + d.Information)}
	})...)
	add("Related", each(m.Related, func(r descriptive.Related) Link { return Link{r.Relation + " " + r.Identifier, resolver(r)} })...)
	add("Funding", each(m.Funding, func(f descriptive.Funding) Link {
		return Link{strings.TrimSpace(f.Funder + " " + f.Award + " " + f.Title), web(f.URI)}
	})...)
	add("Places", each(m.Places, func(p descriptive.Place) Link { return Link{Text: p.Name} })...)
	for _, p := range m.Properties {
		add(p.Name, Link{Text: valueText(p.Value)})
	}
	if f := o.File; f != nil {
		add("Type of the file", Link{Text: f.MimeType})
		add("Size", Link{Text: Size(f.Bytes)})
		add("SHA-256", Link{Text: f.Digest.String()})
		add("Version", Link{Text: strconv.FormatUint(uint64(f.Version)+1, 10)})
	}
	add("Changed", Link{Text: day(o.Modified.Time())})
	add("Created", Link{Text: day(o.Created.Time())})
	add("Id", Link{Text: o.ID.String()})
	add("Record", Link{"JSON", at.Record(o.Kind, o.ID.String())})
	return facts
}

// valueText formats the value of a property for people.
func valueText(v descriptive.Value) string {
	switch v.Form() {
	case descriptive.Text, descriptive.Time, descriptive.Decimal:
		return v.Text()
	case descriptive.Quantity:
		return v.Text() + " " + v.Unit()
	case descriptive.Truth:
		return strconv.FormatBool(v.Bool())
	}
	texts := each(v.List(), valueText)
	for _, p := range v.Group() {
		texts = append(texts, p.Name+": "+valueText(p.Value))
	}
	return strings.Join(texts, "; ")
}

func creatorLink(c descriptive.Creator) Link {
	if c.ORCID != "" {
		return Link{c.Name, orcid + c.ORCID}
	}
	return Link{Text: c.Name}
}

// Prefixes of the addresses of identifiers.
const (
	orcid    = "https://orcid.org/"
	licences = "https://spdx.org/licenses/"
	doi      = "https://doi.org/"
)

// licence returns the address of an SPDX licence.
func licence(id string) string {
	if id == "" {
		return ""
	}
	return licences + id + ".html"
}

// resolver returns the address of a related identifier, or "" if it is unknown.
func resolver(r descriptive.Related) string {
	if r.Type == "DOI" && strings.HasPrefix(r.Identifier, "10.") {
		return doi + r.Identifier
	}
	return web(r.Identifier)
}

// web returns the address if it is a web address, otherwise "".
func web(address string) string {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return address
	}
	return ""
}

func each[T, U any](list []T, of func(T) U) (made []U) {
	for _, item := range list {
		made = append(made, of(item))
	}
	return made
}

// stamp formats a time for schema.org.
func stamp(s metadata.Stamp) string { return s.Time().UTC().Format(time.RFC3339) }
