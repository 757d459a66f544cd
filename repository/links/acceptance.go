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

// resolveInvitation reads the dataspace of an invitation. It returns an error if the owner may no
// longer grant what the invitation grants.
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

// Accepted is the result of accepting an invitation.
type Accepted struct {
	User        metadata.User
	DataspaceID metadata.ID    // zero without a dataspace
	Role        auth.Role      // present role of the user there
	Used        bool           // the invitation granted something and is used up
	Key         string         // of a new user; it cannot be read later
	Session     string         // token of the session, if one was requested
	Ends        metadata.Stamp // when the session ends
}

// Account holds what people choose when they accept an invitation.
type Account struct {
	Username string
	Fullname *string
	core.Input
}

// Accept uses an invitation to create a user with a key and the role and, for a browser, a session,
// all in one commit.
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

// Offered returns what Join would grant to a caller.
func (s *Visitors) Offered(ctx context.Context, v Visitor, p auth.Principal) (a Accepted, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, a, err = s.offer(tx, v, p)
		return err
	})
	return a, err
}

// offer looks up what an invitation grants to a caller: its role, unless the caller is a sysadmin
// or has at least that role.
func (s *Visitors) offer(tx *metadata.Tx, v Visitor, p auth.Principal) (found foundLink, a Accepted, err error) {
	if err = core.Unlimited(p); err != nil {
		return found, a, err
	}
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

// Join grants the role of an invitation to a caller. If the invitation grants nothing to this
// caller, nothing changes and the invitation is not used up.
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
