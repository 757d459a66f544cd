package files

import (
	"strings"

	"labshelf/auth/errs"
	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
)

// folderExists returns an error if a set has no folder with this path.
func folderExists(tx *metadata.Tx, folder metadata.FolderKey) error {
	if err := FolderPath("path", folder.Path); err != nil {
		return err
	}
	there, err := HasFolder(tx, folder)
	if err == nil && !there {
		err = NoFolder()
	}
	return err
}

// NoFolder returns the error for a missing folder.
func NoFolder() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeNotFound, Field: "path", Message: "there is no folder with this path"}
}

// FolderPath returns an error for a text that is not the path of a folder.
func FolderPath(field, path string) error {
	if !strings.HasSuffix(path, "/") {
		return core.Invalid(field, "%s must be the path of a folder, with a slash at its end", field)
	}
	return core.NameText.Check(field, path)
}

// NewFolderPath returns an error for a text that cannot be the path of a new folder.
func NewFolderPath(field, path string) error {
	if in, rest, _ := tree.Split(path); in != path || rest != "" {
		return core.Invalid(field, "%s must be the path of a folder, with a slash at its end; no element may be empty, . or .., or end in an id in brackets", field)
	}
	return FolderPath(field, path)
}

// HasFolder reports whether a set has a folder: one with files, or one that was created explicitly.
// The set itself does not count as a folder.
func HasFolder(tx *metadata.Tx, folder metadata.FolderKey) (bool, error) {
	if !strings.HasSuffix(folder.Path, "/") {
		return false, nil
	}
	within := metadata.ResourceRange{Set: folder.SetID, States: paging.Active, Order: paging.ByName, NamePrefix: folder.Path}
	for _, err := range tx.Resources.Range(within) {
		return err == nil, err
	}
	for row, err := range tx.Folders.From(folder) {
		return err == nil && strings.HasPrefix(row.Path, folder.Path), err
	}
	return false, nil
}
