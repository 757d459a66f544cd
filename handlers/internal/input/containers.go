package input

import (
	"labshelf/auth/errs"
	"labshelf/repository/containers"
	"labshelf/repository/core"
)

func dataspaceFields(in *containers.DataspaceFields) members {
	return members{
		"title": text(&in.Title), "description": text(&in.Description), "origin": text(&in.Origin), "visibility": visibility(&in.Visibility),
		"retention": retention(&in.Retention), "quota": quota(&in.Quota), "metadata": patch(&in.Metadata),
	}
}

// NewDataspace decodes name, and the optional title, description, visibility, origin, retention,
// quota and metadata.
func NewDataspace(f Object) (in containers.NewDataspace) {
	if in.Name, in.Malformed = required(f, "name"); in.Malformed == nil {
		in.Malformed = dataspaceFields(&in.DataspaceFields).read(f, "name")
	}
	return in
}

// DataspaceEdit decodes the changeable fields of a dataspace.
func DataspaceEdit(f Object, shown Shown) (in containers.DataspaceFields) {
	in.Malformed = dataspaceFields(&in).edit(f, shown, readOnly)
	return in
}

func setFields(in *containers.SetFields) members {
	return members{
		"title": text(&in.Title), "description": text(&in.Description), "extract": extract(&in.Extract), "metadata": patch(&in.Metadata),
	}
}

// NewSet decodes dataspaceId, name, and the optional title, description, extract and metadata.
func NewSet(f Object) (in containers.NewSet, err error) {
	if in.DataspaceID, err = required(f, "dataspaceId"); err != nil {
		return in, err
	}
	if in.Name, in.Malformed = required(f, "name"); in.Malformed == nil {
		in.Malformed = setFields(&in.SetFields).read(f, "name", "dataspaceId")
	}
	return in, nil
}

// SetEdit decodes the changeable fields of a set.
func SetEdit(f Object, shown Shown) (in containers.SetFields) {
	in.Malformed = setFields(&in).edit(f, shown, func(field string) error {
		if field == "dataspaceId" {
			return core.Conflict(errs.CodeSetCannotMove, field, "a set cannot be moved to another dataspace")
		}
		return readOnly(field)
	})
	return in
}
