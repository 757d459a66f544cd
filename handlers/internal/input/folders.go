package input

import (
	"labshelf/repository/core"
	"labshelf/repository/folders"
)

// FolderPath decodes path.
func FolderPath(f Object) (in folders.FolderPath) {
	in.Malformed = members{"path": ruled(core.NameText, &in.Path)}.read(f)
	return in
}

// Placement decodes path, toPath, and the optional setId.
func Placement(f Object) (in folders.Placement) {
	in.Malformed = members{
		"path": ruled(core.NameText, &in.Path), "toPath": ruled(core.NameText, &in.ToPath), "setId": ruled(idText, &in.SetID),
	}.read(f)
	return in
}

// Restoration decodes path, and the optional deletion and createdFolders.
func Restoration(f Object) (in folders.Restoration) {
	in.Malformed = members{
		"path": ruled(core.NameText, &in.Path), "createdFolders": texts(&in.Created),
		"deletion": func(field string, value any) error {
			s, err := str(field, value)
			if err != nil {
				return err
			}
			var ok bool
			if in.Deletion, ok = folders.ParseFolderDeletion(s); !ok {
				return core.Invalid(field, "%s must be the value from the response to the deletion of the folder", field)
			}
			return nil
		},
	}.read(f)
	return in
}
