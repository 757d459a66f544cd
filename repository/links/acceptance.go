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
	"labshelf/repository/internal/rows"
)

// resolveInvitation reads the dataspace of an invitation. It has ended where its owner may not give
// any more what it gives.
func (s *Visitors) resolveInvitation(tx *metadata.Tx, found *foundLink) (err error) {
	if found.DataspaceID != (metadata.ID{}) {
		if found.set.Dataspace, err = tx.Dataspaces.Get(found.DataspaceID); err != nil {
			return err
		}
	}
	err = s.links.mayInvite(tx, found.asOwner(auth.Origin{}), found.set.Dataspace, found.Role)
	var refused *errs.Error
	if errors.As(err, &refused) && refused.Kind == errs.Forbidden ||
		err == nil && (found.owner.State == metadata.Deleted || found.DataspaceID != metadata.ID{} && found.set.Dataspace.State == metadata.Deleted) {
		return linkEnded(endings[metadata.LinkRevoked])
	}
	return err
}

// Accepted is what somebody has by an invitation.
type Accepted struct {
	User        metadata.User
	DataspaceID metadata.ID    // zero where it invites to none
	Role        auth.Role      // of the user there, now
	Used        bool           // it gave something; else it is as good as before
	Key         string         // of a new user, which nothing can show again
	Session     string         // its token, where one was asked for
	Ends        metadata.Stamp // the session
}

// Account is what people who accept an invitation choose.
type Account struct {
	Username string
	Fullname *string
	core.Input
}

// Accept makes a user by an invitation, with a key, the role, and a session where a browser asks
// for one, all in one commit.
func (s *Visitors) Accept(ctx context.Context, v Visitor, chosen Account, browser bool) (a Accepted, err error) {
	err = s.core.Stores.Update(ctx, func(tx *metadata.Tx) error {
		found, err := s.findLink(tx, v, asked{kind: metadata.Invitation})
		if err != nil {
			return err
		}
		if err := cmp.Or(chosen.Without(chosen.Username), containers.CheckChosen(chosen.Username)); err != nil {
			return err
		}
		by := rows.Change{By: found.asOwner(v.Origin), Cause: found.Entry}
		user := containers.NewUser{Username: chosen.Username, UserFields: containers.UserFields{Fullname: chosen.Fullname, Input: chosen.Input}}
		a = Accepted{Used: true, DataspaceID: found.DataspaceID, Role: found.Role, Key: auth.NewKey()}
		if a.User, err = s.users.NewUser(tx, by, user); err != nil {
			return err
		}
		if found.Role != auth.None {
			if _, _, err := containers.Grant(tx, by, metadata.Privilege{UserID: a.User.ID, DataspaceID: found.DataspaceID, Role: found.Role}); err != nil {
				return err
			}
		}
		made := auth.Principal{UserID: a.User.ID, Username: a.User.Username, Origin: v.Origin}
		key, err := containers.StoreKey(tx, made, metadata.Key{UserID: a.User.ID, Label: "invitation"}, a.Key)
		if err != nil {
			return err
		}
		if made.KeyID = key.ID; browser {
			if a.Session, a.Ends, err = s.credentials.BeginSession(tx, made, ""); err != nil {
				return err
			}
		}
		return s.countLinkUse(tx, found)
	})
	if err != nil {
		return Accepted{}, err
	}
	return a, nil
}

// Offered returns what Join would give a caller.
func (s *Visitors) Offered(ctx context.Context, v Visitor, p auth.Principal) (a Accepted, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, a, err = s.offer(tx, v, p)
		return err
	})
	return a, err
}

// offer looks up what an invitation has for a caller: the role, unless that has it, or a higher
// one, or is a sysadmin.
func (s *Visitors) offer(tx *metadata.Tx, v Visitor, p auth.Principal) (found foundLink, a Accepted, err error) {
	if found, err = s.findLink(tx, v, asked{kind: metadata.Invitation}); err != nil {
		return found, a, err
	}
	a.DataspaceID = found.DataspaceID
	if a.User, err = tx.Users.Get(p.UserID); err != nil || found.Role == auth.None {
		return found, a, err
	}
	a.Role, err = core.RoleIn(tx, p.UserID, found.DataspaceID)
	if a.Used = !p.Sysadmin && a.Role < found.Role; a.Used {
		a.Role = found.Role
	}
	return found, a, err
}

// Join gives a caller the role of an invitation. Where there is nothing to give, nothing changes,
// and the invitation is not used.
func (s *Visitors) Join(ctx context.Context, v Visitor, p auth.Principal) (a Accepted, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		var found foundLink
		if found, a, err = s.offer(tx, v, p); err != nil || !a.Used {
			return err
		}
		by := rows.Change{By: found.asOwner(p.Origin), Cause: found.Entry}
		if _, _, err := containers.Grant(tx, by, metadata.Privilege{UserID: p.UserID, DataspaceID: found.DataspaceID, Role: found.Role}); err != nil {
			return err
		}
		return s.countLinkUse(tx, found)
	})
	if err != nil {
		return Accepted{}, err
	}
	return a, nil
}
