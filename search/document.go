// Package search holds what the parts of the search share: the document that is searched. The
// language of queries is in package query, the words of a text in package words.
package search

import (
	"slices"
	"strings"
)

// Kind says what a document describes.
type Kind uint8

// Kinds of documents. Zero is none.
const (
	Dataspace Kind = iota + 1
	Set
	Resource
)

// Document is what the search knows of one dataspace, set or resource. Texts are as people wrote
// them; a search folds them.
type Document struct {
	ID        [16]byte
	Kind      Kind
	Dataspace [16]byte // the dataspace that holds it; of a dataspace its own ID
	Set       [16]byte // the set that holds it; of a set its own ID; zero of a dataspace
	Stamp     uint64   // of the last change, in microseconds since 1970 UTC
	Created   uint64   // microseconds since 1970 UTC
	Size      int64    // of a resource, in bytes

	Name        string
	Title       string
	Description string
	Format      string // as its record names it
	MediaType   string // "image/png", with or without parameters
	Content     string // the media type of the bytes, where it differs; "" elsewhere
	Uploader    string // the user's name, or id where there is no name
	Tags        []string
	Keywords    []string
	Creators    []string // each the name, then a space and the ORCID if there is one
	Properties  []Property
	Year        int  // of publication, 0 for none
	Incomplete  bool // lacks what a schema asks for
	Body        string
}

// PropertyKind says how the value of a property is compared.
type PropertyKind uint8

// Kinds of properties. Zero is none.
const (
	Text     PropertyKind = iota + 1
	Number                // Number holds the value
	Bool                  // Text is "true" or "false"
	Date                  // Number holds microseconds since 1970 UTC, of its beginning
	Quantity              // Number and Unit hold the value as written, not in SI
)

// Property is one leaf of the properties of a document. A list gives one Property for each element,
// all of one Path.
type Property struct {
	Path   string // names of groups and of the leaf, separated by dots: "sample.id"
	Text   string // the value as people read it, whatever the Kind: "Ada", "20 °C", "true", "2026-01-02"
	Number float64
	Unit   string
	Kind   PropertyKind
}

// Types returns what "type:" finds a resource by, in lower case and without duplicates: its media
// type without parameters, that of its bytes, the parts of both before and after the slash, and its
// format.
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
