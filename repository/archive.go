package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"labshelf/auth"
	"labshelf/paging"
)

// MaxArchived is how many files may be named for one archive.
const MaxArchived = 1000

// archiveRoom is how many files all archives that are under way may have together where nobody says otherwise. Each costs some 500 bytes of memory until its
// archive ends: half a GiB in all.
const archiveRoom = 1 << 20

// Archive is the files of a set, to be taken out one after the other in the order of their creation. The caller closes it.
type Archive struct {
	Set     Set
	service *Service
	caller  auth.Principal
	room    int64
	rest    []ID
}

// OpenArchive finds the resources of a set that are active now, or those that are named: each must be of the set, and active. What
// is deleted afterwards is still in the archive; of what is replaced or renamed, the version that there is when its turn comes.
func (s *Service) OpenArchive(ctx context.Context, p auth.Principal, set string, named []string) (*Archive, error) {
	a := &Archive{service: s, caller: p}
	err := s.view(ctx, p, func(tx *Tx, p auth.Principal) error {
		placed, err := findSet(tx, set, "")
		if err != nil {
			return err
		}
		if err := authorise(tx, p, placed.dataspace, auth.Read); err != nil {
			return err
		}
		a.Set = placed.shown()
		if len(named) > 0 {
			a.rest, err = namedResources(tx, placed, named)
			return err
		}
		a.rest, err = activeResources(tx, placed, s.config.ArchiveRoom)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(a.rest, ID.Compare)
	a.rest = slices.Compact(a.rest)
	a.room = int64(len(a.rest))
	if s.archived.Add(a.room) > s.config.ArchiveRoom {
		a.Close()
		return nil, &Error{Kind: Unavailable, Code: CodeUnavailable, Message: "too many large archives are under way; try again when one of them is done"}
	}
	return a, nil
}

// namedResources finds the resources of a set by their ids.
func namedResources(tx *Tx, set placedSet, named []string) ([]ID, error) {
	if len(named) > MaxArchived || slices.Contains(named, "") {
		return nil, &Error{Kind: Invalid, Code: CodeInvalidParameter, Field: archiveField,
			Message: "resource names one resource and may be given up to 1000 times; without it, all active ones of the set are taken"}
	}
	ids := make([]ID, len(named))
	for i, id := range named {
		placed, err := findResource(tx, id)
		var unknown *Error
		if errors.As(err, &unknown) && unknown.Kind == NotFound || err == nil && placed.SetID != set.ID {
			return nil, &Error{Kind: NotFound, Code: CodeResourceNotFound, Field: archiveField, Message: "there is no resource " + Shorten(id) + " in this set"}
		}
		if err != nil {
			return nil, err
		}
		if placed.shown().State == Deleted {
			return nil, &Error{Kind: Gone, Code: CodeResourceGone, Field: archiveField,
				Message: "the resource " + id + " is deleted; restore it to read its file"}
		}
		ids[i] = placed.ID
	}
	return ids, nil
}

const archiveField = "resource"

// activeResources finds the active resources of a set, unless there are more than most.
func activeResources(tx *Tx, set placedSet, most int64) (ids []ID, err error) {
	switch {
	case set.shown().State == Deleted:
		return nil, &Error{Kind: Gone, Code: CodeSetGone, Message: "the set is deleted; restore it to read its files"}
	case set.above != nil, set.own != nil: // the listing does not yet have all that are about to come back
		return nil, conflict(CodeBusy, "", "a restoration is under way here; try again when it is done")
	}
	err = tx.Resources.Page(ResourceRange{Set: set.ID, States: paging.States(Active), Order: paging.Oldest}, func(r *Resource) bool {
		ids = append(ids, r.ID)
		return int64(len(ids)) <= most
	})
	if err == nil && int64(len(ids)) > most {
		err = &Error{Kind: TooLarge, Code: CodeTooLarge, Message: fmt.Sprintf("the set has more than %d files; name those to take, or fetch them one by one", most)}
	}
	return ids, err
}

// Next opens the next file, like OpenResource, or returns io.EOF after the last one. With any other error the archive cannot be had
// whole: the caller may no longer read it, a file is damaged, or was purged meanwhile.
func (a *Archive) Next(ctx context.Context) (Resource, io.ReadSeekCloser, error) {
	if len(a.rest) == 0 {
		return Resource{}, nil, io.EOF
	}
	id := a.rest[0].String()
	a.rest = a.rest[1:]
	return a.service.open(ctx, a.caller, id, Deleted)
}

// Close makes room for other archives.
func (a *Archive) Close() { a.service.archived.Add(-a.room) }
