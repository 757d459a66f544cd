package html

import (
	"strconv"
	"strings"

	"labshelf/formats/descriptive"
	"labshelf/metadata"
)

// Dataset is an object in the vocabulary of schema.org. The type is Dataset, or DataCatalog for a
// dataspace. It has the fields that Google requires.
type Dataset struct {
	Context       string      `json:"@context"`
	Type          string      `json:"@type"`
	ID            string      `json:"@id"`
	URL           string      `json:"url"`
	Name          string      `json:"name"`
	Description   string      `json:"description"` // 50 to 5,000 characters
	Identifier    []string    `json:"identifier"`
	Creator       []party     `json:"creator,omitempty"`
	Publisher     *party      `json:"publisher,omitempty"`
	License       string      `json:"license,omitempty"`
	Keywords      []string    `json:"keywords,omitempty"`
	DatePublished string      `json:"datePublished,omitempty"`
	DateCreated   string      `json:"dateCreated"`
	DateModified  string      `json:"dateModified"`
	Temporal      string      `json:"temporalCoverage,omitempty"`
	Spatial       []place     `json:"spatialCoverage,omitempty"`
	Funding       []grant     `json:"funding,omitempty"`
	Free          bool        `json:"isAccessibleForFree"`
	Catalog       *reference  `json:"includedInDataCatalog,omitempty"`
	PartOf        *reference  `json:"isPartOf,omitempty"`
	Distribution  []*download `json:"distribution,omitempty"`
	Version       string      `json:"version,omitempty"`
}

type party struct {
	Type        string  `json:"@type"` // Person or Organization
	ID          string  `json:"@id,omitempty"`
	Name        string  `json:"name"`
	GivenName   string  `json:"givenName,omitempty"`
	FamilyName  string  `json:"familyName,omitempty"`
	Affiliation []party `json:"affiliation,omitempty"`
}

type place struct {
	Type string `json:"@type"`
	Name string `json:"name,omitempty"`
	Geo  *geo   `json:"geo,omitempty"`
}

type geo struct {
	Type      string `json:"@type"`
	Latitude  string `json:"latitude,omitempty"`
	Longitude string `json:"longitude,omitempty"`
	Box       string `json:"box,omitempty"` // south, west, north, east
}

type grant struct {
	Type       string `json:"@type"`
	Name       string `json:"name,omitempty"`
	Identifier string `json:"identifier,omitempty"`
	URL        string `json:"url,omitempty"`
	Funder     party  `json:"funder"`
}

type reference struct {
	Type string `json:"@type"`
	Name string `json:"name"`
	URL  string `json:"url"`
}

type download struct {
	Type     string `json:"@type"`
	Name     string `json:"name"`
	URL      string `json:"contentUrl"`
	Encoding string `json:"encodingFormat"`
	Size     string `json:"contentSize,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
}

// Bounds of a description, in characters.
const leastDescription, mostDescription = 50, 5000

// Dataset returns the object in the vocabulary of schema.org. files are the files of a set that its
// page shows.
func (o Object) Dataset(at Addresses, files ...metadata.Resource) Dataset {
	address, m := at.Page(o.Kind, o.ID.String()), o.Said
	d := Dataset{
		Context: "https://schema.org/", Type: "Dataset", ID: address, URL: address, Name: o.Called(), Description: o.described(),
		Identifier: []string{address}, Creator: each(m.Creators, creatorOf), License: licence(m.Licence),
		Keywords: append(m.Keywords[:len(m.Keywords):len(m.Keywords)], m.Tags...), DatePublished: published(m), DateCreated: stamp(o.Created), DateModified: stamp(o.Modified),
		Spatial: each(m.Places, placeOf), Funding: each(m.Funding, grantOf), Free: true,
	}
	if m.Publisher != "" {
		d.Publisher = &party{Type: "Organization", Name: m.Publisher}
	}
	for _, of := range m.Dates {
		if of.Type == "Coverage" && d.Temporal == "" {
			d.Temporal = of.Date
		}
	}
	for _, r := range m.Related {
		if r.Relation == "IsIdenticalTo" {
			d.Identifier = append(d.Identifier, r.Identifier)
		}
	}
	switch o.Kind {
	case "dataspaces":
		d.Type = "DataCatalog"
	case "sets":
		d.Distribution = append(d.Distribution, &download{Type: "DataDownload", Name: o.Name + ".zip", URL: at.Archive(o.ID.String()), Encoding: "application/zip"})
		for _, f := range files {
			d.Distribution = append(d.Distribution, downloadOf(f, at))
		}
	case "resources":
		d.Distribution, d.Version = []*download{downloadOf(*o.File, at)}, strconv.FormatUint(uint64(o.File.Version)+1, 10)
		set := o.Above[len(o.Above)-1]
		d.PartOf = &reference{"Dataset", set.Called(), at.Page(set.Kind, set.ID.String())}
	}
	if len(o.Above) > 0 {
		d.Catalog = &reference{"DataCatalog", o.Above[0].Called(), at.Page(o.Above[0].Kind, o.Above[0].ID.String())}
	}
	return d
}

// described returns the description, extended to the minimum length of search engines.
func (o Object) described() string {
	text := strings.TrimSpace(o.Description)
	if len([]rune(text)) < leastDescription {
		text = strings.TrimSpace(text + "\n\n" + o.summary())
	}
	if runes := []rune(text); len(runes) > mostDescription {
		text = string(runes[:mostDescription-1]) + "…"
	}
	return text
}

// published returns the date of publication, or its year.
func published(m descriptive.Metadata) string {
	for _, kind := range []string{"Issued", "Available"} {
		for _, of := range m.Dates {
			if of.Type == kind && !strings.Contains(of.Date, "/") {
				return of.Date
			}
		}
	}
	if m.PublicationYear == 0 {
		return ""
	}
	return strconv.Itoa(m.PublicationYear)
}

func creatorOf(c descriptive.Creator) party {
	p := party{Type: "Person", Name: c.Name, GivenName: c.GivenName, FamilyName: c.FamilyName}
	if c.Type == "organization" {
		p.Type = "Organization"
	}
	if c.ORCID != "" {
		p.ID = orcid + c.ORCID
	}
	p.Affiliation = each(c.Affiliations, func(name string) party { return party{Type: "Organization", Name: name} })
	return p
}

func placeOf(p descriptive.Place) place {
	shown := place{Type: "Place", Name: p.Name}
	switch {
	case p.Latitude != "":
		shown.Geo = &geo{Type: "GeoCoordinates", Latitude: string(p.Latitude), Longitude: string(p.Longitude)}
	case p.Box.West != "":
		shown.Geo = &geo{Type: "GeoShape", Box: string(p.Box.South + " " + p.Box.West + " " + p.Box.North + " " + p.Box.East)}
	}
	return shown
}

func grantOf(f descriptive.Funding) grant {
	return grant{Type: "Grant", Name: f.Title, Identifier: f.Award, URL: web(f.URI), Funder: party{Type: "Organization", ID: web(f.FunderID), Name: f.Funder}}
}

func downloadOf(f metadata.Resource, at Addresses) *download {
	return &download{
		Type: "DataDownload", Name: f.Name, URL: at.File(f.ID.String()), Encoding: f.MimeType, Size: strconv.FormatInt(f.Bytes, 10) + " B", SHA256: f.Digest.String(),
	}
}
