package encode

import (
	"strconv"

	"labshelf/blobs"
	"labshelf/metadata"
)

// Version is a version of a resource, with the values of its wire form.
type Version struct {
	metadata.Version
	Shared bool // another version has the same blob; set only in the answer to an erasure
}

// versionTemplate is the wire form of a version. Fields that a resource also has have the same
// names. The last names stand for optional members.
const versionTemplate = `{
  "version": {version},
  "url": "{base}/resources/{resourceId}/versions/{version}",
  "dataUrl": "{base}/resources/{resourceId}/versions/{version}/data",
  "resourceId": "{resourceId}",
  "name": "{name}",
  "description": "{description}",
  "format": "{format}",
  "mimetype": "{mimetype}",
  "bytes": {bytes},
  "sha256": "{sha256}",
  "filename": "{filename}",
  "created": "{created}",
  "created_epoch": {created_epoch},
  "createdBy": "{createdBy}",
  "label": "{label}",
  "current": {current}{replaced}{removed}{damaged}{shared}
}`

var versionValues = map[string]value[Version]{
	"version":       func(b []byte, v *Version) []byte { return strconv.AppendInt(b, int64(v.Number)+1, 10) },
	"name":          func(b []byte, v *Version) []byte { return appendText(b, v.Name) },
	"description":   func(b []byte, v *Version) []byte { return appendText(b, v.Description) },
	"format":        func(b []byte, v *Version) []byte { return appendText(b, v.Format) },
	"mimetype":      func(b []byte, v *Version) []byte { return appendText(b, v.MimeType) },
	"bytes":         func(b []byte, v *Version) []byte { return strconv.AppendInt(b, v.Bytes, 10) },
	"filename":      func(b []byte, v *Version) []byte { return appendText(b, v.Filename) },
	"created":       func(b []byte, v *Version) []byte { return appendInstant(b, v.Created) },
	"created_epoch": func(b []byte, v *Version) []byte { return strconv.AppendInt(b, v.Created.Millis(), 10) },
	"label":         func(b []byte, v *Version) []byte { return appendText(b, v.Label) },
	"current":       func(b []byte, v *Version) []byte { return strconv.AppendBool(b, v.Present()) },
}

var versionFixed = map[string]fixed[Version]{
	"resourceId": {idLength, func(b []byte, v *Version) { putID(b, &v.ResourceID) }},
	"createdBy":  {idLength, func(b []byte, v *Version) { putID(b, &v.CreatedBy) }},
	"sha256":     {2 * len(blobs.Digest{}), func(b []byte, v *Version) { putDigest(b, &v.Digest) }},
}

// VersionLayout returns the layout of versions under a base URL. Each line except the first begins
// with indent.
func VersionLayout(base, indent string) Layout[Version] {
	b := builder[Version]{values: versionValues, fixed: versionFixed}
	member := ",\n" + indent + "  "
	b.template(indented(versionTemplate, indent), templateNames, func(name string) {
		switch name {
		case "base":
			b.text += escaped(base)
		case "replaced":
			b.end(replacedMembers(member))
		case "removed":
			b.end(removedMembers(member))
		case "damaged":
			b.end(memberIf(member+`"damaged": true`, func(v *Version) bool { return v.Damaged }))
		case "shared":
			b.end(memberIf(member+`"shared": true`, func(v *Version) bool { return v.Shared }))
		default:
			b.field(name)
		}
	})
	return b.finish()
}

// replacedMembers appends when and by whom a version was replaced. The current version has no such
// members.
func replacedMembers(member string) value[Version] {
	return func(b []byte, v *Version) []byte {
		if v.Present() {
			return b
		}
		b = append(appendInstant(append(append(b, member...), `"replaced": "`...), v.Replaced), '"')
		b = strconv.AppendInt(append(append(b, member...), `"replaced_epoch": `...), v.Replaced.Millis(), 10)
		return append(appendID(append(append(b, member...), `"replacedBy": "`...), &v.ReplacedBy), '"')
	}
}

// removedMembers appends when the bytes of a version were removed, by which rule, and by whom.
func removedMembers(member string) value[Version] {
	return func(b []byte, v *Version) []byte {
		if v.Removed.Rule == metadata.NotRemoved {
			return b
		}
		b = append(appendInstant(append(append(b, member...), `"removed": "`...), v.Removed.At), '"')
		b = append(appendText(append(append(b, member...), `"rule": "`...), v.Removed.String()), '"')
		if v.Removed.Rule != metadata.Erased {
			return b
		}
		return append(appendID(append(append(b, member...), `"removedBy": "`...), &v.Removed.By), '"')
	}
}
