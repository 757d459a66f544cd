package repository

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
)

// What the visitors of links do: they have no account, and act with the rights that the owner of
// the link has at that moment, on nothing but what the link is about. Each transaction reads the
// link again.

// Visitor is somebody who has the address of a link.
type Visitor struct {
	Token string
	Proof string // of the password, as AdmitVisitor returned it; "": none
	auth.Origin
}

// LinkView is what a visitor may know of a link.
type LinkView struct {
	LinkWithUse
	Owner              string // the full name, or else the username; "" where the link hides people
	Title, Description string // of the set; of a request ""; the title of an invitation is that of its dataspace
}

// foundLink is a link as one transaction sees it.
type foundLink struct {
	LinkWithUse
	owner metadata.User
	set   resolvedSet // of an invitation only its dataspace, if it has one
}

func linkNotFound() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeLinkNotFound, Message: "there is no such link; perhaps its address is not complete"}
}

// linkEnded is told alike of a link that is revoked, and of one whose owner, or set, is gone.
func linkEnded(message string) error {
	return &errs.Error{Kind: errs.Gone, Code: errs.CodeLinkEnded, Message: message}
}

// endings are what visitors are told of links that are over.
var endings = map[metadata.LinkState]string{
	metadata.LinkRevoked: "this link has ended; ask the person who sent it for another one",
	metadata.LinkExpired: "this link has expired; ask the person who sent it for another one",
	metadata.LinkUsedUp:  "this link has been used as often as it may be; ask the person who sent it for another one",
}

// asked is what is asked of a link.
type asked struct {
	kind   metadata.LinkKind // 0: any
	usedUp bool              // it may have been used as often as it may be
	open   bool              // no password is asked for yet
}

// findLink finds the link of a visitor, and whether it may be used.
func (s *Service) findLink(tx *metadata.Tx, v Visitor, ask asked) (found foundLink, err error) {
	s.useFacts(tx)
	digest, ok := auth.ParseLink(v.Token)
	if !ok {
		return found, linkNotFound()
	}
	link, err := tx.Links.ByDigest(digest)
	if errors.Is(err, metadata.ErrNotFound) || err == nil && ask.kind != 0 && link.Kind != ask.kind {
		return found, linkNotFound()
	}
	if err == nil {
		found.LinkWithUse, err = s.withUse(tx, link)
	}
	if err != nil {
		return found, err
	}
	if message, over := endings[found.StateIs]; over && (found.StateIs != metadata.LinkUsedUp || !ask.usedUp) {
		return found, linkEnded(message)
	}
	if err := s.resolveLink(tx, &found); err != nil {
		return found, err
	}
	if link.Password != "" && !ask.open && !s.proves(link, v.Proof) {
		return found, &errs.Error{Kind: errs.Unauthenticated, Code: errs.CodeLinkPassword, Message: "this link asks for a password"}
	}
	return found, nil
}

// resolveLink reads the owner and the set of a link. It has ended where the owner may not make it
// any more.
func (s *Service) resolveLink(tx *metadata.Tx, found *foundLink) (err error) {
	if found.owner, err = tx.Users.Get(found.OwnerID); err != nil {
		return err
	}
	if found.Kind == metadata.Invitation {
		return s.resolveInvitation(tx, found)
	}
	if found.set, err = resolveSet(tx, found.SetID); err != nil {
		return err
	}
	err = authorise(tx, auth.Principal{UserID: found.OwnerID, Sysadmin: found.owner.Sysadmin}, found.set.dataspace, auth.Write)
	var refused *errs.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == errs.Forbidden, err == nil && found.owner.State == metadata.Deleted,
		err == nil && found.set.dataspace.State == metadata.Deleted, err == nil && found.set.shown().State == metadata.Deleted:
		return linkEnded(endings[metadata.LinkRevoked])
	}
	return err
}

// visit runs fn in a read transaction with the link of a visitor.
func (s *Service) visit(ctx context.Context, v Visitor, ask asked, fn func(*metadata.Tx, foundLink) error) error {
	return s.stores.View(ctx, func(tx *metadata.Tx) error {
		found, err := s.findLink(tx, v, ask)
		if err == nil {
			err = fn(tx, found)
		}
		return err
	})
}

// asOwner is the principal in whose name a visitor acts.
func (v foundLink) asOwner(from auth.Origin) auth.Principal {
	return auth.Principal{UserID: v.OwnerID, Username: v.owner.Username, Sysadmin: v.owner.Sysadmin, Origin: from}
}

// covers tells whether a share shows a resource, as long as that is active.
func (v foundLink) covers(r metadata.Resource) bool {
	switch {
	case r.SetID != v.SetID:
		return false
	case v.Files != "":
		return slices.Contains(v.FileIDs(), r.ID)
	}
	return strings.HasPrefix(r.Name, v.Folder)
}

// ViewLink returns what a visitor may know of a link.
func (s *Service) ViewLink(ctx context.Context, v Visitor) (visit LinkView, err error) {
	err = s.visit(ctx, v, asked{}, func(tx *metadata.Tx, found foundLink) error {
		visit = LinkView{LinkWithUse: found.LinkWithUse}
		if !found.HidesPeople {
			visit.Owner = cmp.Or(found.owner.Fullname, found.owner.Username)
		}
		switch set := found.set; found.Kind {
		case metadata.ShareLink:
			visit.Title, visit.Description = cmp.Or(set.Title, set.Name), set.Description
		case metadata.Invitation:
			visit.Title = cmp.Or(set.dataspace.Title, set.dataspace.Name)
		}
		return nil
	})
	return visit, err
}

// SharedFiles lists up to limit files that a share shows: those of a folder by name, others in the
// order in which they were chosen. next is where the following page begins; "": there is none.
func (s *Service) SharedFiles(ctx context.Context, v Visitor, from string, limit int) (files []metadata.Resource, next string, err error) {
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

// parseSharePosition reads where a page of a share begins; "" is its start.
func parseSharePosition(from string) (after paging.Position, err error) {
	text, err := base64.RawURLEncoding.DecodeString(from)
	switch {
	case err == nil && from == "":
		return after, nil
	case err != nil || len(text) < len(after.ID) || len(text) > len(after.ID)+maxNameBytes:
		return after, &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidToken, Field: "from", Message: "from is not one that this link has given out"}
	}
	copy(after.ID[:], text)
	after.Name = string(text[len(after.ID):])
	return after, nil
}

// chosenFiles are the files of a share of files that are active, as their version says where one is
// named.
func chosenFiles(tx *metadata.Tx, found foundLink) (files []metadata.Resource, err error) {
	for _, id := range found.FileIDs() {
		r, err := lookupResource(tx, id.String())
		if err != nil {
			return nil, err
		}
		if r.shown().State == metadata.Deleted || r.SetID != found.SetID {
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

// version is the file that a share shows of a resource: the present one, or the version that it
// names.
func (v foundLink) version(tx *metadata.Tx, r resolvedResource) (metadata.Resource, error) {
	if v.Version == 0 {
		return activeFile(tx, r)
	}
	kept, err := keptVersion(tx, r, strconv.FormatUint(uint64(v.Version), 10))
	was := kept.Of(r.shown())
	was.Modified = kept.Created
	return was, err
}

// shared is the file of a share, looked up with the link in the transaction that reads it.
func (s *Service) shared(v Visitor, ask asked) openAs {
	return func(tx *metadata.Tx, r resolvedResource) (metadata.Resource, error) {
		found, err := s.findLink(tx, v, ask)
		if err != nil {
			return metadata.Resource{}, err
		}
		if !found.covers(r.Resource) || r.shown().State == metadata.Deleted {
			return metadata.Resource{}, &errs.Error{Kind: errs.NotFound, Code: errs.CodeResourceNotFound, Message: "this link shows no such file"}
		}
		return found.version(tx, r)
	}
}

// Fetch is how much of a file a visitor asks for.
type Fetch uint8

// The whole file, a part of it, or only what it is.
const (
	FetchWhole Fetch = iota
	FetchPart
	FetchHead
)

// OpenShared returns a file of a share, as OpenResource does. asks tells how much of a file of so
// many bytes is asked for. A use is counted, and so may be refused, unless that is only the head,
// or a part by an address that has begun to fetch the same version within a day.
func (s *Service) OpenShared(ctx context.Context, v Visitor, id string, asks func(bytes int64) Fetch) (r metadata.Resource, file io.ReadSeekCloser, err error) {
	ask := asked{kind: metadata.ShareLink, usedUp: asks(math.MaxInt64) == FetchPart}
	var found foundLink
	begun := false
	err = s.visit(ctx, v, ask, func(tx *metadata.Tx, f foundLink) error {
		found = f
		resolved, err := lookupResource(tx, id)
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
		s.downloads.begin(downloadKey(v, r), s.now())
	}
	r, file, err = s.open(ctx, found.asOwner(auth.Origin{}), id, s.shared(v, asked{kind: metadata.ShareLink, usedUp: true}))
	return r, file, hiddenFile(err)
}

// hiddenFile gives what a share does not show, what does not exist, and what its owner may not
// read, one answer.
func hiddenFile(err error) error {
	var known *errs.Error
	if errors.As(err, &known) && slices.Contains([]errs.Code{errs.CodeResourceNotFound, errs.CodeForbidden, errs.CodeUnauthenticated}, known.Code) {
		return &errs.Error{Kind: errs.NotFound, Code: errs.CodeResourceNotFound, Message: "this link shows no such file"}
	}
	return err
}

// sharedIn is shared, with the names as they are below the folder of the share: what is above it is
// not shown.
func (s *Service) sharedIn(v Visitor, folder string) openAs {
	file := s.shared(v, asked{kind: metadata.ShareLink, usedUp: true})
	return func(tx *metadata.Tx, r resolvedResource) (metadata.Resource, error) {
		shown, err := file(tx, r)
		shown.Name = strings.TrimPrefix(shown.Name, folder)
		return shown, err
	}
}

// MayStillReadShare is MayStillRead for a visitor of a share.
func (s *Service) MayStillReadShare(ctx context.Context, v Visitor) error {
	return revoked(s.visit(ctx, v, asked{kind: metadata.ShareLink, usedUp: true}, func(*metadata.Tx, foundLink) error { return nil }))
}

// countShareUse counts a use of a share, unless it has been used as often as it may be, and does
// something in the same commit.
func (s *Service) countShareUse(ctx context.Context, v Visitor, with func(*metadata.Tx) error) error {
	return s.stores.Update(ctx, func(tx *metadata.Tx) error {
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

// countLinkUse counts a use of a link in the commit that is the use.
func (s *Service) countLinkUse(tx *metadata.Tx, found foundLink) error {
	use := found.Use
	use.LinkID, use.Count, use.Last = found.ID, use.Count+1, s.now()
	return tx.LinkUses.Put(use)
}

// OpenSharedArchive is OpenArchive for what a share shows. It counts as one use.
func (s *Service) OpenSharedArchive(ctx context.Context, v Visitor) (*Archive, error) {
	a := s.newArchive(func(ctx context.Context) error { return s.MayStillReadShare(ctx, v) })
	err := s.visit(ctx, v, asked{kind: metadata.ShareLink}, func(tx *metadata.Tx, found foundLink) error {
		a.begin(found.set, found.asOwner(auth.Origin{}))
		a.showAs(s.sharedIn(v, found.Folder), found.HidesPeople)
		if found.Files == "" {
			return a.takeActive(tx, found.set, found.Folder)
		}
		files, err := chosenFiles(tx, found)
		for _, r := range files {
			err = cmp.Or(err, a.take(r.ID))
		}
		return err
	})
	if err == nil {
		err = s.countShareUse(ctx, v, func(*metadata.Tx) error { return nil })
	}
	return a.filled(err)
}
