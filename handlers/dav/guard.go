package dav

import (
	"net/http"
	"slices"
	"time"

	"labshelf/repository/folders"
)

// admit checks with guard that the request may change the path in its current state.
func (d *Drive) admit(r *request, path string, below bool) error {
	if !r.locks.any() {
		return nil
	}
	e, err := d.repo.Drive.Lookup(r.Context(), r.caller, mustSplit(path))
	if err != nil || e.Set == nil {
		return nil // the use case returns the reason
	}
	return d.guard(r, path, below)(e.Missing == folders.Present)
}

// guard returns a function that checks whether a lock forbids a change of a path. The request must
// submit the token of each such lock: a lock of the path itself, an infinite lock of a folder above
// it, and a lock of the folder that gains or loses a member. With below set, the change also
// affects everything below the path. there reports whether the path exists.
func (d *Drive) guard(r *request, path string, below bool) func(there bool) error {
	return func(there bool) error {
		now, submitted := time.Now(), tokensOf(r.ifs)
		all := r.locks.of(path, below, now)
		if below || !there {
			all = append(all, r.locks.of(parentOf(path), false, now)...)
		}
		open := map[string]bool{} // roots of shared locks with a submitted token
		for _, l := range all {
			if l.user == r.caller.UserID && slices.Contains(submitted, l.token) {
				open[l.path] = true
			}
		}
		for _, l := range all {
			if !open[l.path] {
				return &refusal{http.StatusLocked, "<D:lock-token-submitted><D:href>" + l.root + "</D:href></D:lock-token-submitted>"}
			}
		}
		return nil
	}
}
