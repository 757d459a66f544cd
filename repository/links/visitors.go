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

// Visitors offers the use cases of the visitors of links. It is safe for concurrent use.
type Visitors struct {
	core        *core.Core
	credentials *core.Credentials
	users       *containers.Users
	files       *files.Files
	uploads     *files.Uploads
	links       *Links
	downloads   downloads
}

// NewVisitors returns the use cases of the visitors of links.
func NewVisitors(links *Links, credentials *core.Credentials, files *files.Files) *Visitors {
	return &Visitors{core: links.core, credentials: credentials, users: links.users, files: files, uploads: links.uploads, links: links}
}

// The visitors of links have no account. They act with the present rights of the owner of the link,
// but only on the objects of the link. Each transaction reads the link again.

// Visitor is a client with the address of a link.
type Visitor struct {
	Token string
	Proof string // of the password, from Admit; "" without one
	auth.Origin
}

// LinkView holds what a visitor may know about a link.
type LinkView struct {
	containers.LinkWithUse
	Owner              string // full name or else username; "" if the link hides people
	Title, Description string // of the set, for invitations of the dataspace; may be ""
}

// foundLink is a link as read in one transaction.
type foundLink struct {
	containers.LinkWithUse
	owner metadata.User
	set   core.ResolvedSet // for an invitation only its dataspace, if any
}

func linkNotFound() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeLinkNotFound, Message: "there is no such link; perhaps its address is incomplete"}
}

// linkEnded returns the same error for a revoked link and for one whose owner or set is deleted.
func linkEnded(message string) error {
	return &errs.Error{Kind: errs.Gone, Code: errs.CodeLinkEnded, Message: message}
}

// endings are the messages for visitors of links that have ended.
var endings = map[metadata.LinkState]string{
	metadata.LinkRevoked: "this link has ended; ask the person who sent it for another one",
	metadata.LinkExpired: "this link has expired; ask the person who sent it for another one",
	metadata.LinkUsedUp:  "this link has reached its limit of uses; ask the person who sent it for another one",
}

// asked describes what a use case requires of a link.
type asked struct {
	kind   metadata.LinkKind // 0 for any
	usedUp bool              // allow a link that has been used up
	open   bool              // do not require the password
}

// findLink looks up the link of a visitor, and checks that it may be used.
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
		return found, &errs.Error{Kind: errs.Unauthenticated, Code: errs.CodeLinkPassword, Message: "this link requires a password"}
	}
	return found, nil
}

// resolveLink reads the owner and the set of a link. It returns an error if the owner could no
// longer create it.
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
	err = found.set.Authorise(tx, auth.Principal{UserID: found.OwnerID}.WithRights(found.owner.Sysadmin), auth.Share)
	var refused *errs.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == errs.Forbidden, err == nil && found.owner.State == metadata.Deleted,
		err == nil && found.set.Dataspace.State == metadata.Deleted, err == nil && found.set.Shown().State == metadata.Deleted:
		return linkEnded(endings[metadata.LinkRevoked])
	}
	return err
}

// visit runs fn in a read transaction, with the link of a visitor.
func (s *Visitors) visit(ctx context.Context, v Visitor, ask asked, fn func(*metadata.Tx, foundLink) error) error {
	return s.core.Stores.View(ctx, func(tx *metadata.Tx) error {
		found, err := s.findLink(tx, v, ask)
		if err == nil {
			err = fn(tx, found)
		}
		return err
	})
}

// asOwner returns the principal of the owner, on whose behalf a visitor acts.
func (v foundLink) asOwner(from auth.Origin) auth.Principal {
	return auth.Principal{UserID: v.OwnerID, Username: v.owner.Username, Origin: from}.WithRights(v.owner.Sysadmin)
}

// View returns what a visitor may know about a link.
func (s *Visitors) View(ctx context.Context, v Visitor) (visit LinkView, err error) {
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

// countLinkUse counts a use of a link, in the commit of that use.
func (s *Visitors) countLinkUse(tx *metadata.Tx, found foundLink) error {
	use := found.Use
	use.LinkID, use.Count, use.Last = found.ID, use.Count+1, s.core.Now()
	return tx.LinkUses.Put(use)
}
