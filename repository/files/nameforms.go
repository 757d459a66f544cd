package files

import (
	"slices"
	"strings"

	"labshelf/formats/tree"
	"labshelf/metadata"
	"labshelf/paging"
)

// Names are stored as they are sent. A request may name a file or folder in another normal form of
// Unicode (macOS decomposes names). It then means the existing one, if exactly one exists. See
// tree.Stored.

// StoredFolder returns the path of a folder in its stored form. path is "" or ends in a slash.
func StoredFolder(tx *metadata.Tx, set metadata.ID, path string) (string, error) {
	if path == "" || len(tree.Forms(path)) == 1 {
		return path, nil
	}
	stored, err := tree.Stored(TreeOf(tx, set), strings.TrimSuffix(path, "/"))
	return stored + "/", err
}

// InStoredForm changes the name or prefix of a range to its stored form, if nothing matches the
// requested form and exactly one other form matches.
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

// storedBeginning returns the stored form of a file or folder name or, for a prefix, the prefix
// with its folders in their stored form.
func storedBeginning(tx *metadata.Tx, set metadata.ID, name string, isPrefix bool) (string, error) {
	folder, rest := name[:strings.LastIndexByte(name, '/')+1], ""
	if !isPrefix {
		return tree.Stored(TreeOf(tx, set), name)
	}
	rest = name[len(folder):]
	stored, err := StoredFolder(tx, set, folder)
	return stored + rest, err
}

// countForm returns the number of files with a name, at most 2. For a prefix, it returns 1 if a
// file name or a folder path has it, and otherwise 0.
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
