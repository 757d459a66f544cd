package dav

import (
	"slices"
	"strings"

	"labshelf/metadata"
)

// shownLocks limits the locks that each entry of an answer shows. Otherwise only the limit of all
// locks would bound the shared locks of a path and the folders above it.
const shownLocks = 8

// folderLocks are the locks that an answer about a path shows, found once for all entries.
type folderLocks struct {
	path  string
	own   []lock            // locks that cover the path
	above []lock            // locks that also cover everything below, without owners, since each entry repeats them
	below map[string][]lock // by path
}

// locksIn groups locks by the entries that show them. The locks of the caller come first.
func locksIn(all []lock, path string, caller metadata.ID) folderLocks {
	slices.SortFunc(all, func(a, b lock) int {
		if mine := a.user == caller; mine != (b.user == caller) {
			return map[bool]int{true: -1, false: 1}[mine]
		}
		return strings.Compare(a.token, b.token)
	})
	f := folderLocks{path: composed(path)}
	for _, l := range all {
		if !l.covers(f.path) {
			if f.below == nil {
				f.below = map[string][]lock{}
			}
			f.below[l.path] = addShown(f.below[l.path], l)
			continue
		}
		f.own = addShown(f.own, l)
		if l.infinite {
			l.owner = ""
			f.above = addShown(f.above, l)
		}
	}
	return f
}

func addShown(to []lock, l lock) []lock {
	if len(to) < shownLocks {
		to = append(to, l)
	}
	return to
}

// of returns the locks to show with the path of the answer, or with an entry directly below it.
func (f *folderLocks) of(path string) []lock {
	if path = composed(path); path == f.path {
		return f.own
	}
	below := f.below[path]
	if len(below) == 0 {
		return f.above
	}
	all := slices.Concat(below, f.above)
	return all[:min(shownLocks, len(all))]
}
