// Package search defines the searched document, which the parts of the search share. Package query
// has the query language, and package words the words of a text.
package search

import (
	"slices"
	"strings"
)

// Kind is the kind of object that a document describes.
type Kind uint8

// Kinds of documents. Zero is invalid.
const (
	Dataspace Kind = iota + 1
	Set
	Resource
)

// Document is the searchable content of one dataspace, set or resource. Texts are as people wrote
// them; a search folds them.
type Document struct {
	ID        [16]byte
	Kind      Kind
	Dataspace [16]byte // the dataspace that contains it; for a dataspace its own ID
	Set       [16]byte // the set that contains it; for a set its own ID; zero for a dataspace
	Stamp     uint64   // of the last change, in microseconds since 1970 UTC
	Created   uint64   // microseconds since 1970 UTC
	Size      int64    // for a resource, in bytes

	Name        string
	Title       string
	Description string
	Format      string // as named in its record
	MediaType   string // "image/png", with or without parameters
	Content     string // the media type of the bytes, if it differs; otherwise ""
	Uploader    string // the user's name, or the id without a name
	Tags        []string
	Keywords    []string
	Creators    []string // each is the name, followed by a space and the ORCID if there is one
	Properties  []Property
	Year        int  // of publication, 0 if unknown
	Incomplete  bool // lacks required properties of its schema
	Body        string
}

// PropertyKind determines how the value of a property is compared.
type PropertyKind uint8

// Kinds of properties. Zero is invalid.
const (
	Text     PropertyKind = iota + 1
	Number                // Number contains the value
	Bool                  // Text is "true" or "false"
	Date                  // Number contains its beginning in microseconds since 1970 UTC
	Quantity              // Number and Unit contain the value as written, not in SI
)

// Property is one leaf of the properties of a document. A list gives one Property for each element,
// all of one Path.
type Property struct {
	Path   string // names of groups and of the leaf, separated by dots: "sample.id"
	Text   string // the value as text, for every Kind: "Ada", "20 °C", "true", "2026-01-02"
	Number float64
	Unit   string
	Kind   PropertyKind
}

// Types returns the values of "type:" that match a resource, in lower case and without duplicates:
// its media type without parameters, the media type of its bytes, the parts of both before and
// after the slash, and its format.
func (d *Document) Types() (types []string) {
	add := func(name string) {
		if name = strings.ToLower(name); name != "" && !slices.Contains(types, name) {
			types = append(types, name)
		}
	}
	for _, media := range []string{d.MediaType, d.Content} {
		bare, _, _ := strings.Cut(media, ";")
		bare = strings.TrimSpace(bare)
		class, subtype, _ := strings.Cut(bare, "/")
		add(bare)
		add(class)
		add(subtype)
	}
	add(d.Format)
	return types
}
