package get

import (
	"os"

	"labshelf/cli/client/filenames"
)

// keepNames stores the names of resources whose files have other names, and of resources with the
// same name.
func keepNames(root *os.Root, now []file) error {
	paths, names := make([]string, len(now)), map[string]filenames.Resource{}
	for i, o := range now {
		paths[i] = o.path
		if o.renamed() || o.shared {
			names[o.path] = filenames.Resource{Name: o.name, ID: o.ID}
		}
	}
	return filenames.Update(root, paths, names)
}

// markShared marks the files whose resource shares its name with another one of the set.
func markShared(list []file) {
	count := map[string]int{}
	for _, o := range list {
		count[o.name]++
	}
	for i := range list {
		list[i].shared = count[list[i].name] > 1
	}
}
