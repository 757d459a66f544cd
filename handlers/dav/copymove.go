package dav

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"labshelf/auth/errs"
	"labshelf/repository/folders"
)

// copy answers COPY and MOVE.
func (d *Drive) copy(w http.ResponseWriter, r *request) error {
	move := r.Method == "MOVE"
	path, at, err := d.destination(r)
	if err != nil {
		return err
	}
	from, to, err := d.repo.Drive.Relocate(r.Context(), r.caller, folders.Relocation{
		From: r.at, To: at, Move: move, Shallow: r.Header.Get("Depth") == "0", Overwrite: !strings.EqualFold(r.Header.Get("Overwrite"), "F"),
		Check: d.admitRelocation(r, path, move && d.promised(r)),
	})
	if err != nil && !errors.Is(err, errPromised) && !errors.Is(err, errSystemFile) {
		return err
	}
	if move {
		d.forgetLocks(r)
	}
	if to.Missing == folders.Present {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Location", d.href(path, from.Missing == folders.Present && from.File == nil))
	w.WriteHeader(http.StatusCreated)
	return nil
}

// promised reports whether the caller has locked a path without a file: the file will arrive later.
// Clients such as davfs2 write later than they create. They move such a file before they send it,
// and then send it under the new name. The move changes nothing: an existing file at the
// destination stays until the new one arrives.
func (d *Drive) promised(r *request) bool {
	tokens := tokensOf(r.ifs)
	return slices.ContainsFunc(r.locks.of(r.path, false, time.Now()), func(l lock) bool {
		return l.path == composed(r.path) && l.user == r.caller.UserID && slices.Contains(tokens, l.token)
	})
}

// errPromised ends a transaction without changes, since the file has not arrived yet.
var errPromised = errors.New("the file has not arrived yet")

// destination parses the Destination header.
func (d *Drive) destination(r *request) (path string, at folders.DrivePath, err error) {
	address := r.Header.Get("Destination")
	if address == "" {
		return "", at, &errs.Error{Kind: errs.Invalid, Code: errs.CodeMissingField, Field: "Destination", Message: "the Destination header is required"}
	}
	path, ok := d.pathOf(r, address)
	if !ok {
		return "", at, &refusal{http.StatusBadGateway, ""}
	}
	if at, ok = split(path); !ok {
		return "", at, &refusal{http.StatusConflict, ""}
	}
	return path, at, nil
}

// admitRelocation returns a function that checks locks and conditions. If the If header names the
// file at the destination, the function uses its current entity tag.
func (d *Drive) admitRelocation(r *request, path string, promised bool) func(from, to folders.DriveEntry) error {
	source, destination, matches := d.guard(r, r.path, true), d.guard(r, path, true), d.matches(r)
	return func(from, to folders.DriveEntry) error {
		missing := from.Missing != folders.Present
		if missing && isSystemFile(r.path) {
			return errSystemFile
		}
		if missing && !promised {
			return nil
		}
		if r.Method == "MOVE" {
			if err := source(!missing); err != nil {
				return err
			}
		}
		if err := destination(to.Missing == folders.Present); err != nil {
			return err
		}
		if r.tagged != nil {
			r.tagged[path] = to.File
		}
		if err := matches(&from); err != nil {
			return err
		}
		if missing {
			return errPromised
		}
		return nil
	}
}
