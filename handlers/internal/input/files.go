package input

import (
	"labshelf/repository/describe"
	"labshelf/repository/files"
)

// ResourceEdit decodes the fields of a resource that can be changed.
func ResourceEdit(f Object, shown Shown) (in files.Fields) {
	in.Malformed = members{
		"name": text(&in.Name), "description": text(&in.Description), "format": text(&in.Format), "metadata": patch(&in.Metadata),
	}.edit(f, shown, func(field string) error {
		if field == "setId" || field == "dataspaceId" {
			return files.RefuseMove(field)
		}
		return readOnly(field)
	})
	return in
}

// ManyEdit decodes a change of several files: ids, and optional metadata, addTags and removeTags.
func ManyEdit(f Object) (in describe.ManyFields) {
	in.Malformed = members{
		"ids": texts(&in.IDs), "metadata": patch(&in.Metadata), "addTags": texts(&in.AddTags), "removeTags": texts(&in.RemoveTags),
	}.read(f)
	return in
}
