package dav

import (
	"time"

	"labshelf/repository/folders"
)

// A lock ends when its holder loses the permission to hold it: the user is deleted, the key expires
// or is revoked, or the user may no longer write there. A request checks this for the locks that it
// meets.

// meetLocks reads the current locks. It ends those around the request's paths whose holders may no
// longer write.
func (d *Drive) meetLocks(r *request) (err error) {
	if r.locks, err = d.locksNow(r.Context()); err != nil || !r.locks.any() {
		return err
	}
	paths := []string{r.path}
	if to, ok := d.pathOf(r, r.Header.Get("Destination")); ok && r.Header.Get("Destination") != "" {
		paths = append(paths, to)
	}
	for _, list := range r.ifs {
		if path, ok := d.taggedPath(r, list); ok && path != r.path {
			paths = append(paths, path)
		}
	}
	var met []lock
	now := time.Now()
	for _, path := range paths {
		met = append(append(met, r.locks.of(path, true, now)...), r.locks.of(parentOf(path), false, now)...)
	}
	return d.endLocks(r, met)
}

// endLocks ends the given locks if their holders may no longer write.
func (d *Drive) endLocks(r *request, all []lock) error {
	if len(all) == 0 {
		return nil
	}
	tokens := map[folders.LockHolder][]string{}
	for _, l := range all {
		holder := folders.LockHolder{User: l.user, Key: l.key, In: mustSplit(l.path)}
		holder.In.Path = ""
		tokens[holder] = append(tokens[holder], l.token)
	}
	holders := make([]folders.LockHolder, 0, len(tokens))
	for holder := range tokens {
		holders = append(holders, holder)
	}
	ended, err := d.repo.Drive.EndedHolders(r.Context(), holders)
	if err != nil || len(ended) == 0 {
		return err
	}
	end := func(ls *locks, _ time.Time) {
		for _, holder := range ended {
			ls.end(tokens[holder])
		}
	}
	if end(r.locks, time.Time{}); r.locks == d.locks {
		return nil
	}
	return d.changeLocks(r.Context(), end)
}

// add adds a lock. If there are too many locks, it first ends those whose holders may no longer
// write.
func (d *Drive) add(r *request, asked lock) (added, inTheWay *lock, full bool, err error) {
	change := func(ls *locks, now time.Time) { added, inTheWay, full = ls.add(asked, now) }
	if err = d.changeLocks(r.Context(), change); err != nil || !full {
		return added, inTheWay, full, err
	}
	if err = d.endLocks(r, r.locks.of("", true, time.Now())); err == nil {
		err = d.changeLocks(r.Context(), change)
	}
	return added, inTheWay, full, err
}
