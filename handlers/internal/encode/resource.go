package encode

import (
	"regexp"
	"strconv"
	"strings"

	"labshelf/blobs"
	"labshelf/metadata"
)

// resourceTemplate is a resource as the interface writes it: fields in the order of its table, added ones last. A name in braces
// is a key of resourceValues or resourceFixed, or stands for the base URL, the template of viewDataUrl, or a member that may be absent.
//
// Resources are written from their records: 36 µs for a page of 100, half as much again as reading them. JSON stored with each would be
// copied in 4 µs, but it would double what a resource takes in the file, and be wrong as soon as the base URL, the template or the
// location of the body changes.
const resourceTemplate = `{
  "id": "{id}",
  "url": "{base}/resources/{id}",
  "dataUrl": "{base}/resources/{id}/data",
  "viewDataUrl": "{view}",
  "name": "{name}",
  "description": "{description}",
  "format": "{format}",
  "mimetype": "{mimetype}",
  "size": {size},
  "created": "{created}",
  "created_epoch": {created_epoch},
  "modified": "{modified}",
  "modified_epoch": {modified_epoch},
  "setId": "{setId}",
  "state": "{state}",
  "bytes": {bytes},
  "sha256": "{sha256}",
  "filename": "{filename}",
  "dataspaceId": "{dataspaceId}",
  "createdBy": "{createdBy}",
  "modifiedBy": "{modifiedBy}",
  "version": {version}{purged}{damaged}
}`

// value appends one value of a resource.
type value func(b []byte, r *metadata.Resource) []byte

var resourceValues = map[string]value{
	"name":           func(b []byte, r *metadata.Resource) []byte { return appendText(b, r.Name) },
	"description":    func(b []byte, r *metadata.Resource) []byte { return appendText(b, r.Description) },
	"format":         func(b []byte, r *metadata.Resource) []byte { return appendText(b, r.Format) },
	"mimetype":       func(b []byte, r *metadata.Resource) []byte { return appendText(b, r.MimeType) },
	"size":           func(b []byte, r *metadata.Resource) []byte { return strconv.AppendInt(b, kilobytes(r.Bytes), 10) },
	"created":        func(b []byte, r *metadata.Resource) []byte { return appendInstant(b, r.Created) },
	"created_epoch":  func(b []byte, r *metadata.Resource) []byte { return strconv.AppendInt(b, r.Created.Millis(), 10) },
	"modified":       func(b []byte, r *metadata.Resource) []byte { return appendInstant(b, r.Modified) },
	"modified_epoch": func(b []byte, r *metadata.Resource) []byte { return strconv.AppendInt(b, r.Modified.Millis(), 10) },
	"state":          func(b []byte, r *metadata.Resource) []byte { return append(b, r.State.String()...) },
	"bytes":          func(b []byte, r *metadata.Resource) []byte { return strconv.AppendInt(b, r.Bytes, 10) },
	"version":        func(b []byte, r *metadata.Resource) []byte { return strconv.AppendInt(b, int64(r.Version)+1, 10) },
	"filename":       func(b []byte, r *metadata.Resource) []byte { return appendText(b, r.Filename) },
}

// fixed is a value that always has the same length. It is written over a blank in the text, at b[0].
type fixed struct {
	length int
	put    func(b []byte, r *metadata.Resource)
}

var resourceFixed = map[string]fixed{
	"id":          {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.ID) }},
	"setId":       {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.SetID) }},
	"dataspaceId": {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.DataspaceID) }},
	"createdBy":   {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.CreatedBy) }},
	"modifiedBy":  {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.ModifiedBy) }},
	"sha256":      {2 * len(blobs.Digest{}), func(b []byte, r *metadata.Resource) { putDigest(b, &r.Digest) }},
}

// Layout is a prepared template: constant text with values in between. A value of fixed length is blank in the text, which halves the
// number of appends.
type Layout []part

type part struct {
	text   string
	blanks []blank
	value  value // behind the text; nil if there is none
}

type blank struct {
	at  int // in the text
	put func(b []byte, r *metadata.Resource)
}

var (
	templateNames = regexp.MustCompile(`\{(\w+)\}`)
	viewNames     = regexp.MustCompile(`\{(id|setId|dataspaceId)\}`) // what a template of viewDataUrl may name
)

// NewLayout returns the layout of resources under a base URL; view is the template of viewDataUrl. Each line but the first begins with
// indent.
func NewLayout(base, view, indent string) Layout {
	var m builder
	m.template(strings.ReplaceAll(resourceTemplate, "\n", "\n"+indent), templateNames, func(name string) {
		switch name {
		case "base":
			m.text += escaped(base)
		case "view":
			m.template(escaped(view), viewNames, m.field)
		case "purged":
			m.end(memberIf(",\n"+indent+`  "purged": true`, func(r *metadata.Resource) bool { return r.Body == metadata.Purged }))
		case "damaged":
			m.end(memberIf(",\n"+indent+`  "damaged": true`, func(r *metadata.Resource) bool { return r.Damaged }))
		default:
			m.field(name)
		}
	})
	m.end(nil)
	return m.layout
}

// memberIf is a member that only some resources have.
func memberIf(member string, has func(*metadata.Resource) bool) value {
	return func(b []byte, r *metadata.Resource) []byte {
		if has(r) {
			b = append(b, member...)
		}
		return b
	}
}

// builder builds a layout from left to right.
type builder struct {
	layout Layout
	part   // that is not in the layout yet
}

// template takes text, and calls insert for the names in it.
func (m *builder) template(text string, names *regexp.Regexp, insert func(name string)) {
	at := 0
	for _, found := range names.FindAllStringIndex(text, -1) {
		m.text += text[at:found[0]]
		insert(text[found[0]+1 : found[1]-1])
		at = found[1]
	}
	m.text += text[at:]
}

// field takes a value.
func (m *builder) field(name string) {
	f, ok := resourceFixed[name]
	if !ok {
		m.end(resourceValues[name])
		return
	}
	m.blanks = append(m.blanks, blank{len(m.text), f.put})
	m.text += strings.Repeat(" ", f.length)
}

// end ends a part.
func (m *builder) end(value value) {
	m.value = value
	m.layout, m.part = append(m.layout, m.part), part{}
}

// Append appends a resource: 1 kB in 0.35 µs.
func (l Layout) Append(b []byte, r *metadata.Resource) []byte {
	for i := range l {
		p, from := &l[i], len(b)
		b = append(b, p.text...)
		for j := range p.blanks {
			p.blanks[j].put(b[from+p.blanks[j].at:], r)
		}
		if p.value != nil {
			b = p.value(b, r)
		}
	}
	return b
}

// kilobytes rounds to the nearest KiB, but never a file with something in it to nothing.
func kilobytes(n int64) int64 {
	if n == 0 {
		return 0
	}
	return max(1, (n+512)/1024)
}
