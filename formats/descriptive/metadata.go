// Package descriptive defines the metadata of a dataspace, a set or a file: creators, a licence,
// tags, properties and other fields of a publication, with the terms of the DataCite kernel 4.6.
// Title and description are fields of the record itself.
//
// Clients send and the service stores this JSON form:
//
//	{"creators":[{"name":"Curie, Marie","givenName":"Marie","familyName":"Curie","type":"person",
//	              "orcid":"0000-0002-1825-0097","affiliations":["Université de Paris"]}],
//	 "publisher":"Example University","publicationYear":2026,"resourceType":"Dataset",
//	 "licence":"CC-BY-4.0","keywords":["radium"],
//	 "related":[{"identifier":"10.5072/x","type":"DOI","relation":"IsSupplementTo"}],
//	 "dates":[{"date":"2026-01/2026-03","type":"Collected","information":"in winter"}],
//	 "funding":[{"funder":"…","funderId":"…","award":"…","title":"…","uri":"…"}],
//	 "places":[{"name":"Paris","latitude":48.85,"longitude":2.35},
//	           {"box":{"west":2,"east":3,"south":48,"north":49}}],
//	 "tags":["raw"],"properties":{"temperature":{"value":20,"unit":"°C"},"operator":"Ada","ok":true,
//	               "n":3,"runs":[1,2],"sample":{"id":"S1"}},
//	 "schema":{"id":"01K5Z3…","version":3},"sources":{"temperature":"header"}}
//
// All members are optional. [Parse] rejects other forms, [Metadata.Validate] rejects violations of
// a rule. Metadata stored under older rules can always be read.
package descriptive

import "bytes"

// MaxBytes bounds the canonical form of the metadata of one object.
const MaxBytes = 64 << 10

// Metadata describes one object. The zero value has no members. Copies share their slices and
// groups.
type Metadata struct {
	Creators        []Creator `json:"creators"`        // at most 500
	Publisher       string    `json:"publisher"`       // at most 500 bytes, like all strings of one line unless another bound is stated
	PublicationYear int       `json:"publicationYear"` // 1000 to 9999, or 0
	ResourceType    string    `json:"resourceType"`    // of ResourceTypes
	Licence         string    `json:"licence"`         // an SPDX identifier
	Keywords        []string  `json:"keywords"`        // at most 100, unique
	Related         []Related `json:"related"`         // at most 500
	Dates           []Date    `json:"dates"`           // at most 100
	Funding         []Funding `json:"funding"`         // at most 100
	Places          []Place   `json:"places"`          // at most 100
	Tags            []string  `json:"tags"`            // at most 100, each of at most 100 bytes, unique, in NFC, without commas
	Properties      Group     `json:"properties"`

	Schema  SchemaVersion `json:"schema"`  // of a set or a file: the version of the schema with which the properties were entered
	Sources Sources       `json:"sources"` // of a file: the sources of properties that no person has set
}

// Creator is a person or an organization that made the data.
type Creator struct {
	Name         string   `json:"name"` // of a person "Family, Given"; required
	GivenName    string   `json:"givenName"`
	FamilyName   string   `json:"familyName"`
	Type         string   `json:"type"`         // of CreatorTypes, or ""
	ORCID        string   `json:"orcid"`        // 0000-0002-1825-0097, of a person
	Affiliations []string `json:"affiliations"` // at most 20
}

// Related is another object that the data are related to.
type Related struct {
	Identifier string `json:"identifier"` // at most 2,000 bytes
	Type       string `json:"type"`       // of IdentifierTypes
	Relation   string `json:"relation"`   // of RelationTypes: the relation of the data to it
}

// Date is a time or a period of the data.
type Date struct {
	Date        string `json:"date"`        // a year, a month, a day or a time of ISO 8601 in its extended form, or two of these separated by a slash
	Type        string `json:"type"`        // of DateTypes
	Information string `json:"information"` // at most 2,000 bytes; may have several lines
}

// Funding is the funder and the grant of the data.
type Funding struct {
	Funder   string `json:"funder"`   // required
	FunderID string `json:"funderId"` // of ROR, Crossref Funder, ISNI or GRID; at most 2,000 bytes
	Award    string `json:"award"`    // the number of the grant
	Title    string `json:"title"`    // of the grant
	URI      string `json:"uri"`      // of the grant, http or https; at most 2,000 bytes
}

// Place is a point or a box on the earth in degrees of WGS 84, or a name alone.
type Place struct {
	Name      string `json:"name"`
	Latitude  Number `json:"latitude"`  // -90 to 90; requires Longitude
	Longitude Number `json:"longitude"` // -180 to 180
	Box       Box    `json:"box"`       // excludes a point
}

// Box is bounded by two meridians and two parallels. If west is greater than east, it crosses the
// antimeridian.
type Box struct {
	West  Number `json:"west"`
	East  Number `json:"east"`
	South Number `json:"south"`
	North Number `json:"north"`
}

// IsZero reports whether m has no members.
func (m Metadata) IsZero() bool {
	return len(m.Creators) == 0 && m.Publisher == "" && m.PublicationYear == 0 && m.ResourceType == "" && m.Licence == "" &&
		len(m.Keywords) == 0 && len(m.Related) == 0 && len(m.Dates) == 0 && len(m.Funding) == 0 && len(m.Places) == 0 &&
		len(m.Tags) == 0 && len(m.Properties) == 0 && m.Schema == SchemaVersion{} && len(m.Sources) == 0
}

// Equal reports whether both have the same canonical form.
func (m Metadata) Equal(other Metadata) bool { return bytes.Equal(m.Append(nil), other.Append(nil)) }

// Missing returns the missing members that the DataCite kernel requires for a publication, in the
// order of the JSON form.
func (m Metadata) Missing() (missing []string) {
	for _, member := range members {
		if member.mandatory && len(member.append(nil, &m)) == 0 {
			missing = append(missing, member.name)
		}
	}
	return missing
}

// Kind is the kind of object that has the metadata.
type Kind uint8

// The kinds of objects that have metadata.
const (
	Dataspace Kind = iota
	Set
	Resource
)

var kindNames = [...]string{"a dataspace", "a set", "a file"}

// Error is the violated rule of a part of the metadata. Field and Rule form a sentence.
type Error struct {
	Field string // such as metadata.creators.0.orcid or metadata.properties.temperature.unit, shortened if it is long
	Rule  string // such as: must have at most 100 bytes
}

func (e *Error) Error() string { return e.Field + " " + e.Rule }
