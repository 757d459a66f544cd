package links

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// covers reports whether a share shows a resource, if it is active.
func (v foundLink) covers(r metadata.Resource) bool {
	switch {
	case r.SetID != v.SetID:
		return false
	case v.Files != "":
		return slices.Contains(v.FileIDs(), r.ID)
	}
	return strings.HasPrefix(r.Name, v.Folder)
}

// SharedFiles lists up to limit files of a share. Files of a folder are ordered by name, and chosen
// files as they were chosen. next is the beginning of the following page, or "" without one.
func (s *Visitors) SharedFiles(ctx context.Context, v Visitor, from string, limit int) (files []metadata.Resource, next string, err error) {
	err = s.visit(ctx, v, asked{kind: metadata.ShareLink}, func(tx *metadata.Tx, found foundLink) error {
		files, next = nil, ""
		if found.Files != "" {
			files, err = chosenFiles(tx, found)
			return err
		}
		after, err := parseSharePosition(from)
		if err != nil {
			return err
		}
		q := metadata.ResourceRange{Set: found.SetID, States: paging.Active, Order: paging.ByName, NamePrefix: found.Folder, After: after}
		for r, err := range tx.Resources.Range(q) {
			if err != nil {
				return err
			}
			if len(files) == limit {
				last := files[limit-1]
				next = base64.RawURLEncoding.EncodeToString(append(last.ID[:], last.Name...))
				return nil
			}
			files = append(files, r)
		}
		return nil
	})
	return files, next, err
}

// parseSharePosition parses the beginning of a page of a share. "" is the first page.
func parseSharePosition(from string) (after paging.Position, err error) {
	text, err := base64.RawURLEncoding.DecodeString(from)
	switch {
	case err == nil && from == "":
		return after, nil
	case err != nil || len(text) < len(after.ID) || len(text) > len(after.ID)+core.MaxNameBytes:
		return after, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidToken, Field: "from", Message: "from is not a position that this link has returned"}
	}
	copy(after.ID[:], text)
	after.Name = string(text[len(after.ID):])
	return after, nil
}

// chosenFiles returns the active files of a share of chosen files, in the version that the share
// names, if any.
func chosenFiles(tx *metadata.Tx, found foundLink) (files []metadata.Resource, err error) {
	for _, id := range found.FileIDs() {
		r, err := core.LookupResource(tx, id.String())
		if err != nil {
			return nil, err
		}
		if r.Shown().State == metadata.Deleted || r.SetID != found.SetID {
			continue
		}
		shown, err := found.version(tx, r)
		if err != nil {
			return nil, err
		}
		files = append(files, shown)
	}
	return files, nil
}

// version returns the file that a share shows for a resource: the present one, or the version that
// the share names.
func (v foundLink) version(tx *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
	if v.Version == 0 {
		return files.ActiveFile(tx, r)
	}
	kept, err := files.KeptVersion(tx, r, strconv.FormatUint(uint64(v.Version), 10))
	was := kept.Of(r.Shown())
	was.Modified = kept.Created
	return was, err
}

// shared returns a function that looks up the link again and returns the shared file.
func (s *Visitors) shared(v Visitor, ask asked) files.OpenAs {
	return func(tx *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
		found, err := s.findLink(tx, v, ask)
		if err != nil {
			return metadata.Resource{}, err
		}
		if !found.covers(r.Resource) || r.Shown().State == metadata.Deleted {
			return metadata.Resource{}, &errs.Error{Kind: errs.NotFound, Code: errs.CodeResourceNotFound, Message: "this link shows no such file"}
		}
		return found.version(tx, r)
	}
}

// Fetch is the part of a file that a visitor requests.
type Fetch uint8

// The whole file, a part of it, or only its headers.
const (
	FetchWhole Fetch = iota
	FetchPart
	FetchHead
)

// OpenShared returns a file of a share, like OpenResource. asks returns the part requested of a
// file with this many bytes. OpenShared counts a use, and fails if the link is used up. It does not
// count requests for headers, nor parts for an address that has begun to fetch the same version
// within a day.
func (s *Visitors) OpenShared(ctx context.Context, v Visitor, id string, asks func(bytes int64) Fetch) (r metadata.Resource, file io.ReadSeekCloser, err error) {
	ask := asked{kind: metadata.ShareLink, usedUp: asks(math.MaxInt64) == FetchPart}
	var found foundLink
	begun := false
	err = s.visit(ctx, v, ask, func(tx *metadata.Tx, f foundLink) error {
		found = f
		resolved, err := core.LookupResource(tx, id)
		if err == nil {
			r, err = s.shared(v, ask)(tx, resolved)
		}
		if err == nil && asks(r.Bytes) == FetchPart {
			begun, err = s.begunDownload(tx, downloadKey(v, r))
		}
		return hiddenFile(err)
	})
	if err != nil {
		return metadata.Resource{}, nil, err
	}
	fetch := asks(r.Bytes)
	switch {
	case fetch == FetchPart && begun:
	case found.StateIs == metadata.LinkUsedUp:
		return metadata.Resource{}, nil, linkEnded(endings[metadata.LinkUsedUp])
	case fetch != FetchHead:
		if err := s.countShareUse(ctx, v, func(tx *metadata.Tx) error { return s.beginDownload(tx, downloadKey(v, r)) }); err != nil {
			return metadata.Resource{}, nil, err
		}
		s.downloads.begin(downloadKey(v, r), s.core.Now())
	}
	r, file, err = s.files.Open(ctx, found.asOwner(auth.Origin{}), id, s.shared(v, asked{kind: metadata.ShareLink, usedUp: true}))
	return r, file, hiddenFile(err)
}

// hiddenFile replaces the errors for files that the share does not show, that do not exist, and
// that its owner is not allowed to read by the same error.
func hiddenFile(err error) error {
	var known *errs.Error
	if errors.As(err, &known) && slices.Contains([]errs.Code{errs.CodeResourceNotFound, errs.CodeForbidden, errs.CodeUnauthenticated}, known.Code) {
		return &errs.Error{Kind: errs.NotFound, Code: errs.CodeResourceNotFound, Message: "this link shows no such file"}
	}
	return err
}

// sharedIn is shared, but with names relative to the folder of the share, so that the path above it
// stays hidden.
func (s *Visitors) sharedIn(v Visitor, folder string) files.OpenAs {
	file := s.shared(v, asked{kind: metadata.ShareLink, usedUp: true})
	return func(tx *metadata.Tx, r core.ResolvedResource) (metadata.Resource, error) {
		shown, err := file(tx, r)
		shown.Name = strings.TrimPrefix(shown.Name, folder)
		return shown, err
	}
}

// MayStillReadShare is like MayStillRead for a visitor of a share.
func (s *Visitors) MayStillReadShare(ctx context.Context, v Visitor) error {
	return core.Revoked(s.visit(ctx, v, asked{kind: metadata.ShareLink, usedUp: true}, func(*metadata.Tx, foundLink) error { return nil }))
}

// countShareUse counts a use of a share and runs with in the same commit. It returns an error if
// the share is used up.
func (s *Visitors) countShareUse(ctx context.Context, v Visitor, with func(*metadata.Tx) error) error {
	return s.core.Stores.Update(ctx, func(tx *metadata.Tx) error {
		found, err := s.findLink(tx, v, asked{kind: metadata.ShareLink})
		if err == nil {
			err = s.countLinkUse(tx, found)
		}
		if err != nil {
			return err
		}
		return with(tx)
	})
}

// OpenSharedArchive is like OpenArchive for the files of a share. It counts as one use.
func (s *Visitors) OpenSharedArchive(ctx context.Context, v Visitor) (*files.Archive, error) {
	a := s.files.NewArchive(func(ctx context.Context) error { return s.MayStillReadShare(ctx, v) })
	err := s.visit(ctx, v, asked{kind: metadata.ShareLink}, func(tx *metadata.Tx, found foundLink) error {
		a.Begin(found.set, found.asOwner(auth.Origin{}))
		a.ShowAs(s.sharedIn(v, found.Folder), found.HidesPeople)
		if found.Files == "" {
			return a.TakeActive(tx, found.set, found.Folder)
		}
		files, err := chosenFiles(tx, found)
		for _, r := range files {
			err = cmp.Or(err, a.Take(r.ID))
		}
		return err
	})
	if err == nil {
		err = s.countShareUse(ctx, v, func(*metadata.Tx) error { return nil })
	}
	return a.Filled(err)
}
