package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// MaxArchived is how many files may be named for one archive.
const MaxArchived = 1000

// ArchiveRoom is how many files all archives that are under way may have together where nobody says
// otherwise. Each costs some 500 bytes of memory until its archive ends: half a GiB in all.
const ArchiveRoom = 1 << 20

// Archive is the files of a set, to be taken out one after the other in the order of their
// creation. The caller closes it.
type Archive struct {
	Set     metadata.Set
	service *Files
	caller  auth.Principal
	room    int64
	rest    []metadata.ID
	as      OpenAs                      // nil: as what was active when the archive was opened
	still   func(context.Context) error // refuses a receiver without the right to it
	bare    bool                        // without descriptive metadata
}

// OpenArchive finds the resources of a set that are active now, or those that are named: each must
// be of the set, and active. What is deleted afterwards is still in the archive; of what is
// replaced or renamed, the version that there is when it is opened. A folder, a path that ends in a
// slash, narrows it down; "": the whole set.
func (s *Files) OpenArchive(ctx context.Context, p auth.Principal, set, folder string, named []string) (*Archive, error) {
	a := s.NewArchive(func(ctx context.Context) error {
		return core.Revoked(s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
			resolved, err := core.LookupSet(tx, set, "")
			if err == nil {
				err = core.Authorise(tx, p, resolved.Dataspace, auth.Read)
			}
			return err
		}))
	})
	return a.Filled(s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := core.LookupSet(tx, set, "")
		if err != nil {
			return err
		}
		if err := resolved.Admit(tx, p, auth.Read); err != nil {
			return err
		}
		a.Begin(resolved, p)
		switch {
		case folder != "" && len(named) > 0:
			return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "folder", Message: "folder and resource are given; accepted: one of the two"}
		case len(named) > 0:
			return a.takeNamed(tx, resolved, named)
		case folder != "":
			stored, err := StoredFolder(tx, resolved.ID, folder)
			if err == nil {
				err = folderExists(tx, metadata.FolderKey{SetID: resolved.ID, Path: stored})
			}
			if err != nil {
				return err
			}
			return a.TakeActive(tx, resolved, stored)
		}
		return a.TakeActive(tx, resolved, "")
	}))
}

// NewArchive returns an archive without files. still refuses a receiver whose right to it has
// ended.
func (s *Files) NewArchive(still func(context.Context) error) *Archive {
	return &Archive{service: s, still: still}
}

// Begin begins to collect files of a set, which are opened in the name of p. It drops those of a
// try before.
func (a *Archive) Begin(of core.ResolvedSet, p auth.Principal) {
	a.Close()
	a.Set, a.caller = of.Shown(), p
}

// ShowAs has the archive show each file as it is returned by as, if it is bare without descriptive
// metadata.
func (a *Archive) ShowAs(as OpenAs, bare bool) { a.as, a.bare = as, bare }

// Filled returns the archive when its files are collected, or closes it after an error.
func (a *Archive) Filled(err error) (*Archive, error) {
	if err != nil {
		a.Close()
		return nil, err
	}
	slices.SortFunc(a.rest, metadata.ID.Compare)
	a.rest = slices.Compact(a.rest)
	return a, nil
}

// Take adds a resource to the archive. Room is reserved before the memory is used: many may ask for
// the same large set at once.
func (a *Archive) Take(id metadata.ID) error {
	a.room++
	if a.service.archived.Add(1) > a.service.config.ArchiveRoom {
		return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "too many large archives are under way; try again when one of them is done"}
	}
	a.rest = append(a.rest, id)
	return nil
}

// takeNamed takes resources of a set by their ids.
func (a *Archive) takeNamed(tx *metadata.Tx, set core.ResolvedSet, named []string) error {
	if len(named) > MaxArchived || slices.Contains(named, "") {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: archiveField,
			Message: "resource names one resource and may be given up to 1000 times; without it, all active ones of the set are taken"}
	}
	for _, id := range named {
		resolved, err := core.LookupResource(tx, id)
		var unknown *errs.Error
		if errors.As(err, &unknown) && unknown.Kind == errs.NotFound || err == nil && resolved.SetID != set.ID {
			return &errs.Error{Kind: errs.NotFound, Code: errs.CodeResourceNotFound, Field: archiveField, Message: "there is no resource " + core.Shorten(id) + " in this set"}
		}
		if err != nil {
			return err
		}
		if resolved.Shown().State == metadata.Deleted {
			return &errs.Error{Kind: errs.Gone, Code: errs.CodeResourceGone, Field: archiveField,
				Message: "the resource " + id + " is deleted; restore it to read its file"}
		}
		if err := a.Take(resolved.ID); err != nil {
			return err
		}
	}
	return nil
}

const archiveField = "resource"

// TakeActive takes the active resources of a set, or of one folder of it, unless there are more
// than all archives may have together.
func (a *Archive) TakeActive(tx *metadata.Tx, set core.ResolvedSet, folder string) error {
	switch {
	case set.Shown().State == metadata.Deleted:
		return &errs.Error{Kind: errs.Gone, Code: errs.CodeSetGone, Message: "the set is deleted; restore it to read its files"}
	case set.Above != nil, set.Own != nil: // the listing does not yet have all that are about to come back
		return core.Conflict(errs.CodeBusy, "", "a restoration is under way here; try again when it is done")
	}
	most := a.service.config.ArchiveRoom
	var full error
	within := metadata.ResourceRange{Set: set.ID, States: paging.Active, Order: paging.Oldest}
	if folder != "" {
		within.Order, within.NamePrefix = paging.ByName, folder
	}
	err := tx.Resources.Page(within, func(r *metadata.Resource) bool {
		full = a.Take(r.ID)
		return full == nil
	})
	if err == nil && a.room > most {
		err = &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Message: fmt.Sprintf("the set has more than %d files; name those to take, or fetch them one by one", most)}
	}
	return cmp.Or(err, full)
}

// Next opens the next file, like OpenResource, or returns io.EOF after the last one. With any other
// error the archive cannot be completed: the caller may no longer read it, a file is damaged, or
// was purged meanwhile.
func (a *Archive) Next(ctx context.Context) (metadata.Resource, io.ReadSeekCloser, error) {
	if len(a.rest) == 0 {
		return metadata.Resource{}, nil, io.EOF
	}
	id := a.rest[0].String()
	a.rest = a.rest[1:]
	of, file, err := a.service.Open(ctx, a.caller, id, func(tx *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
		if a.as != nil {
			shown, err := a.as(tx, r)
			if err == nil && !a.bare {
				err = rows.Described(tx, r.ID, &shown.Descriptive)
			}
			return shown, err
		}
		if err := rows.Described(tx, r.ID, &r.Descriptive); err != nil {
			return metadata.Resource{}, err
		}
		return presentFile(tx, r)
	})
	if err != nil {
		return of, nil, err
	}
	return of, core.WatchFile(file, func() error { return a.still(ctx) }), nil
}

// Close makes room for other archives. It may be called again.
func (a *Archive) Close() {
	a.service.archived.Add(-a.room)
	a.room, a.rest = 0, nil
}
