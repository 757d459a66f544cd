package input

import (
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
)

// ResourceEdit decodes the changeable fields of a resource.
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

// ManyEdit decodes a change of several files: ids, and the optional metadata, addTags and
// removeTags.
func ManyEdit(f Object) (in describe.ManyFields) {
	in.Malformed = members{
		"ids": texts(&in.IDs), "metadata": patch(&in.Metadata), "addTags": texts(&in.AddTags), "removeTags": texts(&in.RemoveTags),
	}.read(f)
	return in
}

// Destination decodes the target of a copy or move: setId and name, both optional.
func Destination(f Object, match core.Match) files.Destination {
	in := files.Destination{Match: match}
	in.Malformed = members{"setId": ruled(idText, &in.SetID), "name": ruled(core.NameText, &in.Name)}.read(f)
	return in
}

// Version decodes label.
func Version(f Object) (in files.VersionFields) {
	if _, in.Malformed = required(f, "label"); in.Malformed == nil {
		in.Malformed = members{"label": text(&in.Label)}.read(f)
	}
	return in
}

var manyActions = map[string]files.ManyAction{
	"delete": files.DeleteMany, "restore": files.RestoreMany, "copy": files.CopyMany, "move": files.MoveMany,
}

// Many decodes ids, action, and the optional setId and folder. It decodes action first, because its
// permission is checked before the values of other fields.
func Many(f Object) (in files.Many) {
	if action, ok := f["action"].(string); ok {
		in.Action = manyActions[action]
	}
	in.Malformed = members{
		"action": func(field string, value any) error {
			action, err := str(field, value)
			if err == nil && manyActions[action] == 0 {
				err = core.Invalid(field, "%s must be delete, restore, copy or move", field)
			}
			return err
		},
		"ids": texts(&in.IDs), "setId": ruled(idText, &in.SetID), "folder": text(&in.Folder),
	}.read(f)
	return in
}
