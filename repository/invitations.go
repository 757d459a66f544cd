package repository

import (
	"context"
	"errors"
	"slices"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// An invitation is a link that is used once: it makes a user, who gets a key, or gives one who is
// there a role. It does so in the name of its owner, as long as that may.

// How long an invitation lives where nobody says otherwise, and at most.
const (
	invitationAge    = 7 * 24 * time.Hour
	maxInvitationAge = 30 * 24 * time.Hour
)

// AdminsInvite tells whether admins may invite people into their dataspaces.
func (s *Service) AdminsInvite() bool { return s.config.AdminsInvite }

// newInvitation reads and checks what a request says about a new invitation.
func (s *Service) newInvitation(tx *metadata.Tx, p auth.Principal, f Fields) (l draftLink, err error) {
	l.Kind, l.MaxUses = metadata.Invitation, 1
	_, withDataspace := f["dataspaceId"]
	_, withRole := f["role"]
	var d metadata.Dataspace
	if withDataspace {
		id, err := f.required("dataspaceId")
		if err != nil {
			return l, err
		}
		if d, err = lookupDataspace(tx, id, "dataspaceId"); err != nil {
			return l, err
		}
	}
	if err := s.mayInvite(tx, p, d, auth.None); err != nil {
		return l, err
	}
	if withDataspace != withRole {
		return l, missing(map[bool]string{true: "role", false: "dataspaceId"}[withDataspace], "dataspaceId and role go together; an invitation without both gives an account alone")
	}
	if withRole {
		var given metadata.Privilege
		if err := setRole(&given, "role", f["role"]); err != nil {
			return l, err
		}
		l.DataspaceID, l.Role = d.ID, given.Role
	}
	if err := l.fits(f); err != nil {
		return l, err
	}
	if err := create(&l, f, linkFields, "kind", "dataspaceId", "role"); err != nil {
		return l, err
	}
	if err := s.bound(&l.Link, f); err != nil {
		return l, err
	}
	if d.State == metadata.Deleted && withDataspace {
		return l, parentDeleted("dataspaceId", "dataspace")
	}
	return l, s.mayInvite(tx, p, d, l.Role)
}

// mayInvite authorises a caller to invite people: sysadmins, also into no dataspace, and where the
// configuration says so the admins of a dataspace into theirs, with a role that is not above their
// own.
func (s *Service) mayInvite(tx *metadata.Tx, p auth.Principal, d metadata.Dataspace, role auth.Role) error {
	switch {
	case p.Sysadmin:
		return nil
	case d.ID == metadata.ID{}:
		return forbidden("only a sysadmin may invite without a dataspace")
	}
	if err := authorise(tx, p, d, auth.Manage); err != nil {
		return err
	}
	if !s.config.AdminsInvite {
		return forbidden("only sysadmins may invite people here; the operator can let admins (invitations in the configuration)")
	}
	own, err := roleIn(tx, p.UserID, d.ID)
	if err == nil && role > own {
		err = forbidden("you are %s in this dataspace, and cannot invite as %s", own, role)
	}
	return err
}

// mayStillInvite is mayInvite for what an invitation gives.
func (s *Service) mayStillInvite(tx *metadata.Tx, p auth.Principal, l metadata.Link) (err error) {
	var d metadata.Dataspace
	if l.DataspaceID != (metadata.ID{}) {
		d, err = tx.Dataspaces.Get(l.DataspaceID)
	}
	if err == nil {
		err = s.mayInvite(tx, p, d, l.Role)
	}
	return err
}

// resolveInvitation reads the dataspace of an invitation. It has ended where its owner may not give
// any more what it gives.
func (s *Service) resolveInvitation(tx *metadata.Tx, found *foundLink) (err error) {
	if found.DataspaceID != (metadata.ID{}) {
		if found.set.dataspace, err = tx.Dataspaces.Get(found.DataspaceID); err != nil {
			return err
		}
	}
	err = s.mayInvite(tx, found.asOwner(auth.Origin{}), found.set.dataspace, found.Role)
	var refused *errs.Error
	if errors.As(err, &refused) && refused.Kind == errs.Forbidden ||
		err == nil && (found.owner.State == metadata.Deleted || found.DataspaceID != metadata.ID{} && found.set.dataspace.State == metadata.Deleted) {
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

// Accept makes a user by an invitation, with a key, the role, and a session where a browser asks
// for one, all in one commit. Fields: username, optional fullname.
func (s *Service) Accept(ctx context.Context, v Visitor, f Fields, browser bool) (a Accepted, err error) {
	err = s.stores.Update(ctx, func(tx *metadata.Tx) error {
		found, err := s.findLink(tx, v, asked{kind: metadata.Invitation})
		if err != nil {
			return err
		}
		said := []string{"username", "fullname"}
		for field := range f {
			if !slices.Contains(said, field) {
				return unknownField(field, "this request; it takes", said)
			}
		}
		if name, _ := f["username"].(string); name != "" {
			if err := checkChosen(name); err != nil {
				return err
			}
		}
		by := rows.Change{By: found.asOwner(v.Origin), Cause: found.Entry}
		a = Accepted{Used: true, DataspaceID: found.DataspaceID, Role: found.Role, Key: auth.NewKey()}
		if a.User, err = s.newUser(tx, by, f); err != nil {
			return err
		}
		if found.Role != auth.None {
			if _, _, err := grant(tx, by, metadata.Privilege{UserID: a.User.ID, DataspaceID: found.DataspaceID, Role: found.Role}); err != nil {
				return err
			}
		}
		user := auth.Principal{UserID: a.User.ID, Username: a.User.Username, Origin: v.Origin}
		key, err := storeKey(tx, user, metadata.Key{UserID: a.User.ID, Label: "invitation"}, a.Key)
		if err != nil {
			return err
		}
		if user.KeyID = key.ID; browser {
			if a.Session, a.Ends, err = s.beginSession(tx, user, ""); err != nil {
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
func (s *Service) Offered(ctx context.Context, v Visitor, p auth.Principal) (a Accepted, err error) {
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, a, err = s.offer(tx, v, p)
		return err
	})
	return a, err
}

// offer looks up what an invitation has for a caller: the role, unless that has it, or a higher
// one, or is a sysadmin.
func (s *Service) offer(tx *metadata.Tx, v Visitor, p auth.Principal) (found foundLink, a Accepted, err error) {
	if found, err = s.findLink(tx, v, asked{kind: metadata.Invitation}); err != nil {
		return found, a, err
	}
	a.DataspaceID = found.DataspaceID
	if a.User, err = tx.Users.Get(p.UserID); err != nil || found.Role == auth.None {
		return found, a, err
	}
	a.Role, err = roleIn(tx, p.UserID, found.DataspaceID)
	if a.Used = !p.Sysadmin && a.Role < found.Role; a.Used {
		a.Role = found.Role
	}
	return found, a, err
}

// Join gives a caller the role of an invitation. Where there is nothing to give, nothing changes,
// and the invitation is not used.
func (s *Service) Join(ctx context.Context, v Visitor, p auth.Principal) (a Accepted, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		var found foundLink
		if found, a, err = s.offer(tx, v, p); err != nil || !a.Used {
			return err
		}
		by := rows.Change{By: found.asOwner(p.Origin), Cause: found.Entry}
		if _, _, err := grant(tx, by, metadata.Privilege{UserID: p.UserID, DataspaceID: found.DataspaceID, Role: found.Role}); err != nil {
			return err
		}
		return s.countLinkUse(tx, found)
	})
	if err != nil {
		return Accepted{}, err
	}
	return a, nil
}
