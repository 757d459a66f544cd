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

// MaxArchived is the maximum number of files that a request can name for one archive.
const MaxArchived = 1000

// ArchiveRoom is the default maximum number of files in all open archives together. Each file takes
// some 500 bytes of memory until its archive is closed, half a GiB in total.
const ArchiveRoom = 1 << 20

// Archive holds files of a set, which Next opens one by one in order of creation. The caller must
// close it.
type Archive struct {
	Set     metadata.Set
	service *Files
	caller  auth.Principal
	room    int64
	rest    []metadata.ID
	as      OpenAs                      // nil for the state when the file is opened
	still   func(context.Context) error // returns an error once the receiver may no longer read
	bare    bool                        // without descriptive metadata
}

// OpenArchive collects the active resources of a set, or the named ones. Each named resource must
// be active and in the set. folder is a path that ends in a slash and limits the archive to that
// folder; "" means the whole set. A resource that is deleted later is still in the archive. A
// resource that is replaced or renamed is archived in the state in which Next finds it.
func (s *Files) OpenArchive(ctx context.Context, p auth.Principal, set, folder string, named []string) (*Archive, error) {
	a := s.NewArchive(func(ctx context.Context) error {
		return core.Revoked(s.core.Read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
			resolved, err := core.LookupSet(tx, set, "")
			if err == nil {
				err = resolved.Authorise(tx, p, auth.Read)
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
			return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: "folder", Message: "folder and resource cannot be combined"}
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

// NewArchive returns an empty archive. still returns an error once the receiver may no longer read.
func (s *Files) NewArchive(still func(context.Context) error) *Archive {
	return &Archive{service: s, still: still}
}

// Begin starts to collect files of a set, which are opened on behalf of p. It drops files that an
// earlier attempt has collected.
func (a *Archive) Begin(of core.ResolvedSet, p auth.Principal) {
	a.Close()
	a.Set, a.caller = of.Shown(), p
}

// ShowAs sets the function that returns the resource to show for each file. If bare is true,
// resources have no descriptive metadata.
func (a *Archive) ShowAs(as OpenAs, bare bool) { a.as, a.bare = as, bare }

// Filled completes the archive and returns it. If err is not nil, it closes the archive.
func (a *Archive) Filled(err error) (*Archive, error) {
	if err != nil {
		a.Close()
		return nil, err
	}
	slices.SortFunc(a.rest, metadata.ID.Compare)
	a.rest = slices.Compact(a.rest)
	return a, nil
}

// Take adds a resource to the archive. It reserves room before it uses memory, because many clients
// may request the same large set at the same time.
func (a *Archive) Take(id metadata.ID) error {
	a.room++
	if a.service.archived.Add(1) > a.service.config.ArchiveRoom {
		return &errs.Error{Kind: errs.Unavailable, Code: errs.CodeUnavailable, Message: "too many large archives are in progress; try again when one of them is done"}
	}
	a.rest = append(a.rest, id)
	return nil
}

// takeNamed adds resources of a set by their ids.
func (a *Archive) takeNamed(tx *metadata.Tx, set core.ResolvedSet, named []string) error {
	if len(named) > MaxArchived || slices.Contains(named, "") {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidParameter, Field: archiveField,
			Message: "resource names one resource and may be given up to 1000 times; without it, the archive has all active resources of the set"}
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

// TakeActive adds the active resources of a set, or of one of its folders. It returns an error if
// they exceed the limit for all archives.
func (a *Archive) TakeActive(tx *metadata.Tx, set core.ResolvedSet, folder string) error {
	switch {
	case set.Shown().State == metadata.Deleted:
		return &errs.Error{Kind: errs.Gone, Code: errs.CodeSetGone, Message: "the set is deleted; restore it to read its files"}
	case set.Above != nil, set.Own != nil: // the listing may lack resources being restored
		return core.Conflict(errs.CodeBusy, "", "a restoration is in progress here; try again when it is done")
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
		err = &errs.Error{Kind: errs.TooLarge, Code: errs.CodeTooLarge, Message: fmt.Sprintf("the set has more than %d files; select some with resource, or download them one by one", most)}
	}
	return cmp.Or(err, full)
}

// Next opens the next file, like OpenResource, but does not verify it: every archive compares the
// digests of its files, whatever their size. After the last file Next returns io.EOF. After any
// other error the archive cannot be completed: the caller may no longer read, or a file is damaged
// or has been purged.
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
	return of, core.WatchFile(unverified(file), func() error { return a.still(ctx) }), nil
}

// Close frees the room that the archive has reserved. It may be called again.
func (a *Archive) Close() {
	a.service.archived.Add(-a.room)
	a.room, a.rest = 0, nil
}
