package handlers

import (
	"strings"

	"labshelf/repository"
)

// resourceTemplate is a resource as the interface writes it: fields in the order of its table, added ones last. What is in braces
// is a member of resourceValues, or the base URL, or the template of viewDataUrl.
//
// Resources are written from their records. JSON stored with each would be copied in a sixth of the time, but it would
// double what a resource takes in the file, and be wrong as soon as the base URL, the template or the interface changes.
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
  "modifiedBy": "{modifiedBy}"{purged}
}`

// value appends one value of a resource.
type value func(b []byte, r *repository.Resource) []byte

var resourceValues = map[string]value{
	"id":             func(b []byte, r *repository.Resource) []byte { return appendID(b, &r.ID) },
	"name":           func(b []byte, r *repository.Resource) []byte { return appendText(b, r.Name) },
	"description":    func(b []byte, r *repository.Resource) []byte { return appendText(b, r.Description) },
	"format":         func(b []byte, r *repository.Resource) []byte { return appendText(b, r.Format) },
	"mimetype":       func(b []byte, r *repository.Resource) []byte { return appendText(b, r.MimeType) },
	"size":           func(b []byte, r *repository.Resource) []byte { return appendNumber(b, kilobytes(r.Bytes)) },
	"created":        func(b []byte, r *repository.Resource) []byte { return appendInstant(b, r.Created) },
	"created_epoch":  func(b []byte, r *repository.Resource) []byte { return appendNumber(b, r.Created.Millis()) },
	"modified":       func(b []byte, r *repository.Resource) []byte { return appendInstant(b, r.Modified) },
	"modified_epoch": func(b []byte, r *repository.Resource) []byte { return appendNumber(b, r.Modified.Millis()) },
	"setId":          func(b []byte, r *repository.Resource) []byte { return appendID(b, &r.SetID) },
	"state":          func(b []byte, r *repository.Resource) []byte { return append(b, r.State.String()...) },
	"bytes":          func(b []byte, r *repository.Resource) []byte { return appendNumber(b, r.Bytes) },
	"sha256":         func(b []byte, r *repository.Resource) []byte { return appendDigest(b, &r.Digest) },
	"filename":       func(b []byte, r *repository.Resource) []byte { return appendText(b, r.Filename) },
	"dataspaceId":    func(b []byte, r *repository.Resource) []byte { return appendID(b, &r.DataspaceID) },
	"createdBy":      func(b []byte, r *repository.Resource) []byte { return appendID(b, &r.CreatedBy) },
	"modifiedBy":     func(b []byte, r *repository.Resource) []byte { return appendID(b, &r.ModifiedBy) },
}

// viewValues are what a template of viewDataUrl may name.
var viewValues = map[string]value{
	"id": resourceValues["id"], "setId": resourceValues["setId"], "dataspaceId": resourceValues["dataspaceId"],
}

// layout is a template made ready: text as it is, with values in between.
type layout []part

type part struct {
	text  string
	value value // behind the text; nil at the end
}

// resourceLayout is the layout of resources under a base URL. Each line but the first begins with indent.
func resourceLayout(base, view, indent string) layout {
	inserted := map[string]layout{
		"base":   {{text: escaped(base)}},
		"view":   compile(escaped(view), viewValues, nil),
		"purged": {{value: purgedMember(",\n" + indent + `  "purged": true`)}},
	}
	return compile(strings.ReplaceAll(resourceTemplate, "\n", "\n"+indent), resourceValues, inserted)
}

// purgedMember is there in tombstones only.
func purgedMember(member string) value {
	return func(b []byte, r *repository.Resource) []byte {
		if r.Purged {
			b = append(b, member...)
		}
		return b
	}
}

// compile makes a template ready. What is in braces and neither a value nor inserted stays as it is.
func compile(template string, values map[string]value, inserted map[string]layout) (l layout) {
	text := ""
	for template != "" {
		before, rest, _ := strings.Cut(template, "{")
		name, after, closed := strings.Cut(rest, "}")
		text += before
		switch insert, value := inserted[name], values[name]; {
		case len(before) == len(template):
			return append(l, part{text: text})
		case closed && value != nil:
			l, text, template = append(l, part{text, value}), "", after
		case closed && insert != nil:
			l, text, template = append(append(l, part{text: text}), insert...), "", after
		default:
			text, template = text+"{", rest
		}
	}
	return append(l, part{text: text})
}

// append writes a resource, 0.6 µs.
func (l layout) append(b []byte, r *repository.Resource) []byte {
	for i := range l {
		b = append(b, l[i].text...)
		if value := l[i].value; value != nil {
			b = value(b, r)
		}
	}
	return b
}
