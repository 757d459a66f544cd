package files

import (
	"slices"
	"strings"

	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/paging"
)

// Names are stored as they are sent. A request that names a file or folder in another normal form
// of Unicode (macOS decomposes names) means the one that exists, if exactly one does. See
// tree.Stored.

// StoredFolder returns the path of a folder, "" or with a slash at its end, in the form in which
// it exists.
func StoredFolder(tx *metadata.Tx, set metadata.ID, path string) (string, error) {
	if path == "" || len(tree.Forms(path)) == 1 {
		return path, nil
	}
	stored, err := tree.Stored(TreeOf(tx, set), strings.TrimSuffix(path, "/"))
	return stored + "/", err
}

// InStoredForm changes the name, or the beginning of names, that a range asks for to the form in
// which it exists: if nothing has the one that is asked for, and exactly one other form is there.
func InStoredForm(tx *metadata.Tx, within *metadata.ResourceRange, folders bool) error {
	name, prefix := within.Name, within.NamePrefix
	if name != nil {
		prefix = *name
	}
	forms := tree.Forms(prefix)
	if within.Set == (metadata.ID{}) || len(forms) == 1 {
		return nil
	}
	stored, err := storedBeginning(tx, within.Set, prefix, name == nil)
	if err != nil {
		return err
	}
	if !slices.Contains(forms, stored) {
		forms = append(forms, stored)
	}
	found, total := "", 0
	for _, form := range forms {
		n, err := countForm(tx, *within, form, name == nil, folders)
		if err != nil || n > 0 && form == prefix {
			return err
		}
		if n > 0 {
			found, total = form, total+n
		}
	}
	switch {
	case total != 1:
	case name != nil:
		within.Name = &found
	default:
		within.NamePrefix = found
	}
	return nil
}

// storedBeginning returns a name in the form in which a file or folder has it, or the folders of
// a prefix in the forms in which they exist.
func storedBeginning(tx *metadata.Tx, set metadata.ID, name string, isPrefix bool) (string, error) {
	folder, rest := name[:strings.LastIndexByte(name, '/')+1], ""
	if !isPrefix {
		return tree.Stored(TreeOf(tx, set), name)
	}
	rest = name[len(folder):]
	stored, err := StoredFolder(tx, set, folder)
	return stored + rest, err
}

// countForm returns how many files have a name, up to 2, or 1 if a name or the path of a folder
// begins with a prefix.
func countForm(tx *metadata.Tx, within metadata.ResourceRange, form string, isPrefix, folders bool) (n int, err error) {
	most := 2
	within.After, within.Since, within.Until = paging.Position{}, 0, 0
	if within.Name, within.NamePrefix = &form, ""; isPrefix {
		within.Name, within.NamePrefix, most = nil, form, 1
	}
	err = tx.Resources.Page(within, func(*metadata.Resource) bool {
		n++
		return n < most
	})
	if err != nil || n > 0 || !isPrefix || !folders {
		return n, err
	}
	there, err := TreeOf(tx, within.Set).Any(form)
	if there {
		n = 1
	}
	return n, err
}
