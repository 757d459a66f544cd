package descriptive

// member is one member of the JSON form.
type member struct {
	name      string
	of        [3]bool                            // by Kind: the kinds that may have it
	mandatory bool                               // for a publication
	append    func(b []byte, m *Metadata) []byte // appends the value, or nothing if it is empty
	check     func(c *checker, m *Metadata)      // called if the value is not empty
}

// Sets of kinds that may have a member.
var (
	sets    = [3]bool{Set: true}
	spaces  = [3]bool{Dataspace: true, Set: true}
	objects = [3]bool{Dataspace: true, Set: true, Resource: true}
	shaped  = [3]bool{Set: true, Resource: true}
	files   = [3]bool{Resource: true}
)

const (
	properties = "properties"
	sources    = "sources"
)

// members are all members, in the order of the canonical form.
var members = [...]member{
	{
		name: "creators", of: spaces, mandatory: true,
		append: func(b []byte, m *Metadata) []byte { return appendList(b, m.Creators, Creator.append) },
		check:  func(c *checker, m *Metadata) { checkList(c, m.Creators, maxMany, Creator.check) },
	}, {
		name: "publisher", of: spaces, mandatory: true,
		append: func(b []byte, m *Metadata) []byte { return appendText(b, m.Publisher) },
		check:  func(c *checker, m *Metadata) { c.name(m.Publisher, maxLine) },
	}, {
		name: "publicationYear", of: sets, mandatory: true,
		append: func(b []byte, m *Metadata) []byte { return appendInteger(b, m.PublicationYear) },
		check:  func(c *checker, m *Metadata) { c.year(m.PublicationYear) },
	}, {
		name: "resourceType", of: sets, mandatory: true,
		append: func(b []byte, m *Metadata) []byte { return appendText(b, m.ResourceType) },
		check:  func(c *checker, m *Metadata) { c.oneOf(m.ResourceType, resourceTypes) },
	}, {
		name: "licence", of: spaces,
		append: func(b []byte, m *Metadata) []byte { return appendText(b, m.Licence) },
		check:  func(c *checker, m *Metadata) { c.licence(m.Licence) },
	}, {
		name: "keywords", of: spaces,
		append: func(b []byte, m *Metadata) []byte { return appendTexts(b, m.Keywords) },
		check:  func(c *checker, m *Metadata) { checkUnique(c, m.Keywords, checkKeyword) },
	}, {
		name: "related", of: sets,
		append: func(b []byte, m *Metadata) []byte { return appendList(b, m.Related, Related.append) },
		check:  func(c *checker, m *Metadata) { checkList(c, m.Related, maxMany, Related.check) },
	}, {
		name: "dates", of: sets,
		append: func(b []byte, m *Metadata) []byte { return appendList(b, m.Dates, Date.append) },
		check:  func(c *checker, m *Metadata) { checkList(c, m.Dates, maxSome, Date.check) },
	}, {
		name: "funding", of: spaces,
		append: func(b []byte, m *Metadata) []byte { return appendList(b, m.Funding, Funding.append) },
		check:  func(c *checker, m *Metadata) { checkList(c, m.Funding, maxSome, Funding.check) },
	}, {
		name: "places", of: sets,
		append: func(b []byte, m *Metadata) []byte { return appendList(b, m.Places, Place.append) },
		check:  func(c *checker, m *Metadata) { checkList(c, m.Places, maxSome, Place.check) },
	}, {
		name: "tags", of: objects,
		append: func(b []byte, m *Metadata) []byte { return appendTexts(b, m.Tags) },
		check:  func(c *checker, m *Metadata) { checkUnique(c, m.Tags, checkTag) },
	}, {
		name: properties, of: objects,
		append: func(b []byte, m *Metadata) []byte { return appendProperties(b, m.Properties) },
		check:  func(c *checker, m *Metadata) { m.Properties.check(c, 1) },
	}, {
		name: "schema", of: shaped,
		append: func(b []byte, m *Metadata) []byte { return m.Schema.append(b) },
		check:  func(c *checker, m *Metadata) { m.Schema.check(c) },
	}, {
		name: sources, of: files,
		append: func(b []byte, m *Metadata) []byte { return m.Sources.append(b) },
		check:  func(c *checker, m *Metadata) { m.Sources.check(c, m.Properties) },
	},
}
