package encode

import (
	"regexp"
	"strconv"

	"labshelf/blobs"
	"labshelf/metadata"
)

// resourceTemplate is the wire form of a resource: fields in the order of the API's table, later
// additions last. A name in braces is a key of resourceValues or resourceFixed, or stands for the
// base URL, the template of viewDataUrl, or an optional member.
//
// Resources are encoded from their records each time. Stored JSON would be faster to copy, but it
// would double the size of a resource on disk. It would also be outdated as soon as the base URL,
// the template or the location of the body changes.
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
  "version": {version}{purged}{damaged}{movedTo}{linkId}{metadata}
}`

var resourceValues = map[string]value[metadata.Resource]{
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

var resourceFixed = map[string]fixed[metadata.Resource]{
	"id":          {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.ID) }},
	"setId":       {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.SetID) }},
	"dataspaceId": {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.DataspaceID) }},
	"createdBy":   {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.CreatedBy) }},
	"modifiedBy":  {idLength, func(b []byte, r *metadata.Resource) { putID(b, &r.ModifiedBy) }},
	"sha256":      {2 * len(blobs.Digest{}), func(b []byte, r *metadata.Resource) { putDigest(b, &r.Digest) }},
}

// viewNames matches the names that a template of viewDataUrl may contain.
var viewNames = regexp.MustCompile(`\{(id|setId|dataspaceId)\}`)

// ResourceLayout returns the layout of resources under a base URL. view is the template of
// viewDataUrl. Each line except the first begins with indent.
func ResourceLayout(base, view, indent string) Layout[metadata.Resource] {
	b := builder[metadata.Resource]{values: resourceValues, fixed: resourceFixed}
	b.template(indented(resourceTemplate, indent), templateNames, func(name string) {
		switch name {
		case "base":
			b.text += escaped(base)
		case "view":
			b.template(escaped(view), viewNames, b.field)
		case "purged":
			b.end(memberIf(",\n"+indent+`  "purged": true`, func(r *metadata.Resource) bool { return r.Body == metadata.Purged }))
		case "metadata":
			b.end(metadataOf(",\n" + indent + `  "metadata": `))
		case "movedTo":
			b.end(idMember(",\n"+indent+`  "movedTo": "`, func(r *metadata.Resource) metadata.ID { return r.MovedTo }))
		case "linkId":
			b.end(idMember(",\n"+indent+`  "linkId": "`, func(r *metadata.Resource) metadata.ID { return r.LinkID }))
		case "damaged":
			b.end(memberIf(",\n"+indent+`  "damaged": true`, func(r *metadata.Resource) bool { return r.Damaged }))
		default:
			b.field(name)
		}
	})
	return b.finish()
}

// idMember returns a value that appends a member with an id, unless the id is zero.
func idMember(member string, of func(*metadata.Resource) metadata.ID) value[metadata.Resource] {
	return func(b []byte, r *metadata.Resource) []byte {
		if id := of(r); id != (metadata.ID{}) {
			b = append(b, member...)
			b = append(append(b, id.String()...), '"')
		}
		return b
	}
}

// metadataOf returns a value that appends the descriptive metadata as stored.
func metadataOf(member string) value[metadata.Resource] {
	return func(b []byte, r *metadata.Resource) []byte {
		if r.Descriptive != "" {
			b = append(append(b, member...), r.Descriptive...)
		}
		return b
	}
}

// kilobytes rounds to the nearest KiB, but a file that is not empty to at least 1.
func kilobytes(n int64) int64 {
	if n == 0 {
		return 0
	}
	return max(1, (n+512)/1024)
}
