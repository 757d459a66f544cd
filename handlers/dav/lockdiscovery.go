package dav

import (
	"slices"
	"strings"

	"labshelf/metadata"
)

// shownLocks is how many locks an entry of an answer shows: shared locks of one path, and of the
// folders above it, have no other bound than that of all locks.
const shownLocks = 8

// folderLocks are the locks that an answer about a path shows, found once for all of its entries.
type folderLocks struct {
	path  string
	own   []lock            // that cover the path
	above []lock            // that cover what is below, too, without their owners: each entry repeats them
	below map[string][]lock // by path
}

// locksIn sorts locks by what they are shown with. The locks of the caller come first.
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

// of returns the locks to show with the path of the answer, or with an entry right below it.
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
