// Package conformance decides which schema applies to an object, and validates its properties. A
// record names the version of the schema that it was created with. That version stays in force,
// even when the schema has a newer one.
package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/rows"
)

// Object holds the attributes that decide which schema applies. No schema applies to the zero
// Object.
type Object struct {
	Dataspace metadata.ID
	For       metadata.SchemaFor

	// Only for files. The first of Names that has an extension decides.
	Names             []string
	Format, MediaType string
}

// OfSet returns the Object of a set.
func OfSet(s metadata.Set) Object { return Object{Dataspace: s.DataspaceID, For: metadata.ForSets} }

// OfResource returns the Object of a file.
func OfResource(r metadata.Resource) Object {
	return Object{Dataspace: r.DataspaceID, For: metadata.ForFiles, Names: []string{r.Name, r.Filename}, Format: r.Format, MediaType: r.MimeType}
}

// How well an entry of a schema's types fits a file. A higher value is a better fit.
const (
	fitsNot = iota
	fitsAll
	fitsClass
	fitsFormat
	fitsExactly
)

// fit returns how well one type of a schema, in the form of metadata.Schema, fits a file.
func (o Object) fit(entry string) int {
	media, _, _ := strings.Cut(strings.ToLower(o.MediaType), ";")
	media = strings.TrimSpace(media)
	class, isClass := strings.CutSuffix(entry, "/*")
	switch {
	case entry == "":
		return fitsAll
	case entry[0] == '.':
		if o.hasExtension(entry) {
			return fitsExactly
		}
	case isClass:
		if strings.HasPrefix(media, class+"/") {
			return fitsClass
		}
	case strings.Contains(entry, "/"):
		if media == entry {
			return fitsExactly
		}
	case strings.ToLower(o.Format) == entry:
		return fitsFormat
	}
	return fitsNot
}

// hasExtension reports whether the first of the file's names that has an extension ends in ending.
// A name whose only dot is its first character has no extension.
func (o Object) hasExtension(ending string) bool {
	for _, name := range o.Names {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		if strings.LastIndexByte(name, '.') > 0 {
			return len(name) > len(ending) && strings.HasSuffix(strings.ToLower(name), ending)
		}
	}
	return false
}

// Applying returns the active schema of a dataspace that applies to an object. The slice active is
// ascending by id. The schema whose types fit best wins; the oldest wins a tie. found is false if
// no schema is for this kind of object.
func Applying(active []metadata.Schema, o Object) (s metadata.Schema, found bool) {
	best := fitsNot
	for _, candidate := range active {
		if candidate.For != o.For {
			continue
		}
		for entry := range strings.SplitSeq(candidate.Types, "\n") {
			if fit := o.fit(entry); fit > best {
				best, s, found = fit, candidate, true
			}
		}
	}
	return s, found
}

// Check holds what a validation of an object's properties needs. The validation needs no
// transaction.
type Check struct {
	Schema     metadata.Schema        // the schema that applies
	Version    metadata.SchemaVersion // the version of Schema that is in force for the object
	Properties string                 // JSON
}

// Finder finds the schemas of objects in one transaction. It caches what it reads.
type Finder struct {
	tx       *metadata.Tx
	active   map[metadata.ID][]metadata.Schema // by dataspace
	versions map[metadata.SchemaVersionKey]metadata.SchemaVersion
}

// NewFinder returns a Finder for a transaction.
func NewFinder(tx *metadata.Tx) *Finder {
	return &Finder{tx, map[metadata.ID][]metadata.Schema{}, map[metadata.SchemaVersionKey]metadata.SchemaVersion{}}
}

// Applying returns the schema that applies to an object.
func (f *Finder) Applying(o Object) (s metadata.Schema, found bool, err error) {
	active, known := f.active[o.Dataspace]
	if !known {
		if active, err = rows.Collect(f.tx.Schemas.OfDataspace(o.Dataspace, paging.Active), 1<<10); err != nil {
			return s, false, err
		}
		f.active[o.Dataspace] = active
	}
	s, found = Applying(active, o)
	return s, found, nil
}

// Check returns the schema and version that are in force for an object with the given descriptive
// metadata. found is false if no schema applies.
func (f *Finder) Check(o Object, said descriptive.Metadata) (c Check, found bool, err error) {
	if c.Schema, found, err = f.Applying(o); err != nil || !found {
		return c, false, err
	}
	key := c.Schema.Newest()
	if said.Schema.ID == c.Schema.ID.String() {
		key.Number = uint32(said.Schema.Version)
	}
	c.Version, err = f.version(key)
	if errors.Is(err, metadata.ErrNotFound) {
		c.Version, err = f.version(c.Schema.Newest())
	}
	c.Properties = said.Properties.JSON()
	return c, err == nil, err
}

func (f *Finder) version(key metadata.SchemaVersionKey) (v metadata.SchemaVersion, err error) {
	v, known := f.versions[key]
	if !known {
		if v, err = f.tx.SchemaVersions.Get(key); err == nil {
			f.versions[key] = v
		}
	}
	return v, err
}

// MaxTypes is the maximum number of types of a schema.
const MaxTypes = 50

// maxType is the maximum length of a type, in bytes.
const maxType = 100

// ParseTypes converts types to the form that metadata.Schema stores: in lower case, without
// duplicates. The text of an error continues the name of the field.
func ParseTypes(list []string) (string, error) {
	if len(list) > MaxTypes {
		return "", fmt.Errorf("may have up to %d entries", MaxTypes)
	}
	var types []string
	for _, entry := range list {
		entry = strings.ToLower(strings.TrimSpace(entry))
		if wrong := wrongType(entry); wrong != "" {
			return "", errors.New(wrong)
		}
		if !slices.Contains(types, entry) {
			types = append(types, entry)
		}
	}
	return strings.Join(types, "\n"), nil
}

// TypesOf returns the types of a schema, never nil.
func TypesOf(s metadata.Schema) []string {
	if s.Types == "" {
		return []string{}
	}
	return strings.Split(s.Types, "\n")
}

// wrongType returns the rule that a type breaks, or "" if the type is valid.
func wrongType(entry string) string {
	class, isClass := strings.CutSuffix(entry, "/*")
	switch {
	case entry == "" || entry == ".":
		return "must not have an empty entry"
	case len(entry) > maxType:
		return "must have entries of at most 100 bytes"
	case strings.ContainsFunc(entry, func(r rune) bool { return r < ' ' || r == 0x7f || r == ';' || r == ',' }):
		return "must have no control characters, commas or parameters in its entries"
	case strings.Contains(class, "*"), isClass && (class == "" || strings.Contains(class, "/")):
		return "may have * only for all subtypes of a media type, such as image/*"
	case entry[0] == '.' && strings.Contains(entry, "/"), strings.HasPrefix(entry, "/"), strings.HasSuffix(entry, "/"), strings.Count(entry, "/") > 1:
		return "must have media types such as text/csv or image/*, formats such as csv, or extensions such as .tif"
	}
	return ""
}
