package dav

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository"
)

// relocation is a COPY or MOVE.
type relocation struct {
	*request
	move     bool
	from, to repository.DriveEntry
	path     string // where it goes
	at       repository.DrivePath
}

// copy answers COPY and MOVE.
func (d *Drive) copy(w http.ResponseWriter, r *request) error {
	t := relocation{request: r, move: r.Method == "MOVE"}
	if err := d.destination(&t); err != nil {
		return err
	}
	var err error
	if t.from, err = d.lookup(r); err != nil && isLitter(r.path) {
		w.WriteHeader(http.StatusCreated) // of what has been dropped
		return nil
	}
	promised := err != nil && t.move && d.promised(r)
	if err == nil || promised {
		err = d.admitRelocation(&t)
	}
	if err == nil && !promised {
		err = d.relocate(t)
	}
	if err != nil {
		return err
	}
	if t.move {
		if err := d.changeLocks(r.Context(), func(ls *locks, _ time.Time) { ls.forget(r.path) }); err != nil {
			return err
		}
	}
	if t.to.Missing == repository.Present {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Location", d.href(t.path, t.from.File == nil && !promised))
	w.WriteHeader(http.StatusCreated)
	return nil
}

// promised tells whether the path, where there is nothing, is locked by who sends the request: a file is to come. Clients that send later what is written,
// such as davfs2, move such a file before it has come, and put it under its new name. The move then changes nothing: what is at the destination stays
// until the file comes.
func (d *Drive) promised(r *request) bool {
	tokens := tokensOf(r.ifs)
	return slices.ContainsFunc(r.locks.of(r.path, false, time.Now()), func(l lock) bool {
		return l.path == r.path && l.user == r.caller.UserID && slices.Contains(tokens, l.token)
	})
}

// destination reads where a file or folder goes.
func (d *Drive) destination(t *relocation) (err error) {
	address := t.Header.Get("Destination")
	if address == "" {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeMissingField, Field: "Destination", Message: "the header Destination says where it goes"}
	}
	var ok bool
	if t.path, ok = d.pathOf(t.request, address); !ok {
		return &refusal{http.StatusBadGateway, ""}
	}
	if t.at, ok = split(t.path); !ok {
		return &refusal{http.StatusConflict, ""}
	}
	switch {
	case t.path == t.request.path, within(t.path, t.request.path):
		return &errs.Error{Kind: errs.Forbidden, Code: errs.CodeForbidden, Message: "nothing is copied or moved onto or into itself"}
	case t.at.Path == "", t.request.at.Path == "":
		return repository.ContainersStay()
	}
	t.to, err = d.repo.Writable(t.Context(), t.caller, t.at)
	return err
}

// admitRelocation tells why the locks and conditions forbid it.
func (d *Drive) admitRelocation(t *relocation) error {
	if t.to.Missing == repository.Present && strings.EqualFold(t.Header.Get("Overwrite"), "F") {
		return &errs.Error{Kind: errs.Precondition, Code: errs.CodePrecondition, Message: "there is something at the destination, which is not to be overwritten"}
	}
	if t.move {
		if err := d.admit(t.request, t.request.path, true); err != nil {
			return err
		}
	}
	if err := d.admit(t.request, t.path, true); err != nil {
		return err
	}
	return d.matches(t.request)(&t.from)
}

// relocate copies or moves it. A file onto a file is the next version of that one; what else is in the way is deleted before.
func (d *Drive) relocate(t relocation) (err error) {
	if t.from.File == nil {
		err = d.relocateFolder(t)
	} else {
		err = d.relocateFile(t)
	}
	if err == nil && t.move {
		err = d.keepParent(t.Context(), t.caller, t.request.at, t.from.Set.ID)
	}
	return err
}

func (d *Drive) relocateFile(t relocation) (err error) {
	place := repository.Place{SetID: t.to.Set.ID.String(), Name: t.at.Path, Match: same(t.from.File)}
	switch {
	case t.to.File != nil:
		place.Onto, place.Name = t.to.File.ID.String(), ""
	case t.to.Missing == repository.Present:
		if err := d.removeFolder(t.Context(), t.caller, t.to); err != nil {
			return err
		}
	}
	if t.move {
		_, err = d.repo.MoveResource(t.Context(), t.caller, t.from.File.ID.String(), place)
	} else {
		_, err = d.repo.CopyResource(t.Context(), t.caller, t.from.File.ID.String(), place)
	}
	return err
}

// same is the precondition that a file is as it has just been seen.
func same(file *metadata.Resource) repository.Match {
	return repository.Match{IfMatch: repository.ETags{Set: true, Tags: []string{file.Tag()}}}
}
