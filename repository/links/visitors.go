package links

import (
	"cmp"
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Visitors does what the visitors of links may do. It is safe for concurrent use.
type Visitors struct {
	core        *core.Core
	credentials *core.Credentials
	users       *containers.Users
	files       *files.Files
	uploads     *files.Uploads
	links       *Links
	downloads   downloads
}

// NewVisitors returns what visitors of links may do.
func NewVisitors(links *Links, credentials *core.Credentials, files *files.Files) *Visitors {
	return &Visitors{core: links.core, credentials: credentials, users: links.users, files: files, uploads: links.uploads, links: links}
}

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
	containers.LinkWithUse
	Owner              string // the full name, or else the username; "" where the link hides people
	Title, Description string // of the set; of a request ""; the title of an invitation is that of its dataspace
}

// foundLink is a link as one transaction sees it.
type foundLink struct {
	containers.LinkWithUse
	owner metadata.User
	set   core.ResolvedSet // of an invitation only its dataspace, if it has one
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
func (s *Visitors) findLink(tx *metadata.Tx, v Visitor, ask asked) (found foundLink, err error) {
	s.core.UseFacts(tx)
	digest, ok := auth.ParseLink(v.Token)
	if !ok {
		return found, linkNotFound()
	}
	link, err := tx.Links.ByDigest(digest)
	if errors.Is(err, metadata.ErrNotFound) || err == nil && ask.kind != 0 && link.Kind != ask.kind {
		return found, linkNotFound()
	}
	if err == nil {
		found.LinkWithUse, err = s.users.WithUse(tx, link)
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
	if link.Password != "" && !ask.open && !s.links.proves(link, v.Proof) {
		return found, &errs.Error{Kind: errs.Unauthenticated, Code: errs.CodeLinkPassword, Message: "this link asks for a password"}
	}
	return found, nil
}

// resolveLink reads the owner and the set of a link. It has ended where the owner may not make it
// any more.
func (s *Visitors) resolveLink(tx *metadata.Tx, found *foundLink) (err error) {
	if found.owner, err = tx.Users.Get(found.OwnerID); err != nil {
		return err
	}
	if found.Kind == metadata.Invitation {
		return s.resolveInvitation(tx, found)
	}
	if found.set, err = core.ResolveSet(tx, found.SetID); err != nil {
		return err
	}
	err = core.Authorise(tx, auth.Principal{UserID: found.OwnerID, Sysadmin: found.owner.Sysadmin}, found.set.Dataspace, auth.Write)
	var refused *errs.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == errs.Forbidden, err == nil && found.owner.State == metadata.Deleted,
		err == nil && found.set.Dataspace.State == metadata.Deleted, err == nil && found.set.Shown().State == metadata.Deleted:
		return linkEnded(endings[metadata.LinkRevoked])
	}
	return err
}

// visit runs fn in a read transaction with the link of a visitor.
func (s *Visitors) visit(ctx context.Context, v Visitor, ask asked, fn func(*metadata.Tx, foundLink) error) error {
	return s.core.Stores.View(ctx, func(tx *metadata.Tx) error {
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

// ViewLink returns what a visitor may know of a link.
func (s *Visitors) ViewLink(ctx context.Context, v Visitor) (visit LinkView, err error) {
	err = s.visit(ctx, v, asked{}, func(tx *metadata.Tx, found foundLink) error {
		visit = LinkView{LinkWithUse: found.LinkWithUse}
		if !found.HidesPeople {
			visit.Owner = cmp.Or(found.owner.Fullname, found.owner.Username)
		}
		switch set := found.set; found.Kind {
		case metadata.ShareLink:
			visit.Title, visit.Description = cmp.Or(set.Title, set.Name), set.Description
		case metadata.Invitation:
			visit.Title = cmp.Or(set.Dataspace.Title, set.Dataspace.Name)
		}
		return nil
	})
	return visit, err
}

// countLinkUse counts a use of a link in the commit that is the use.
func (s *Visitors) countLinkUse(tx *metadata.Tx, found foundLink) error {
	use := found.Use
	use.LinkID, use.Count, use.Last = found.ID, use.Count+1, s.core.Now()
	return tx.LinkUses.Put(use)
}
