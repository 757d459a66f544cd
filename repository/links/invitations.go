package links

import (
	"time"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/containers"
	"labshelf/repository/core"
)

// An invitation is a link that is used once: it makes a user, who gets a key, or gives one who is
// there a role. It does so in the name of its owner, as long as that may.

// How long an invitation lives where nobody says otherwise, and at most.
const (
	invitationAge    = 7 * 24 * time.Hour
	maxInvitationAge = 30 * 24 * time.Hour
)

// AdminsInvite tells whether admins may invite people into their dataspaces.
func (s *Links) AdminsInvite() bool { return s.config.AdminsInvite }

// newInvitation reads and checks what a request says about a new invitation.
func (s *Links) newInvitation(tx *metadata.Tx, p auth.Principal, f core.Fields) (l draftLink, err error) {
	l.Kind, l.MaxUses = metadata.Invitation, 1
	_, withDataspace := f["dataspaceId"]
	_, withRole := f["role"]
	var d metadata.Dataspace
	if withDataspace {
		id, err := core.Required(f, "dataspaceId")
		if err != nil {
			return l, err
		}
		if d, err = core.LookupDataspace(tx, id, "dataspaceId"); err != nil {
			return l, err
		}
	}
	if err := s.mayInvite(tx, p, d, auth.None); err != nil {
		return l, err
	}
	if withDataspace != withRole {
		return l, core.Missing(map[bool]string{true: "role", false: "dataspaceId"}[withDataspace], "dataspaceId and role go together; an invitation without both gives an account alone")
	}
	if withRole {
		var given metadata.Privilege
		if err := containers.SetRole(&given, "role", f["role"]); err != nil {
			return l, err
		}
		l.DataspaceID, l.Role = d.ID, given.Role
	}
	if err := l.fits(f); err != nil {
		return l, err
	}
	if err := core.SetFields(&l, f, linkFields, "kind", "dataspaceId", "role"); err != nil {
		return l, err
	}
	if err := s.bound(&l.Link, f); err != nil {
		return l, err
	}
	if d.State == metadata.Deleted && withDataspace {
		return l, core.ParentDeleted("dataspaceId", "dataspace")
	}
	return l, s.mayInvite(tx, p, d, l.Role)
}

// mayInvite authorises a caller to invite people: sysadmins, also into no dataspace, and where the
// configuration says so the admins of a dataspace into theirs, with a role that is not above their
// own.
func (s *Links) mayInvite(tx *metadata.Tx, p auth.Principal, d metadata.Dataspace, role auth.Role) error {
	switch {
	case p.Sysadmin:
		return nil
	case d.ID == metadata.ID{}:
		return core.Forbidden("only a sysadmin may invite without a dataspace")
	}
	if err := core.Authorise(tx, p, d, auth.Manage); err != nil {
		return err
	}
	if !s.config.AdminsInvite {
		return core.Forbidden("only sysadmins may invite people here; the operator can let admins (invitations in the configuration)")
	}
	own, err := core.RoleIn(tx, p.UserID, d.ID)
	if err == nil && role > own {
		err = core.Forbidden("you are %s in this dataspace, and cannot invite as %s", own, role)
	}
	return err
}

// mayStillInvite is mayInvite for what an invitation gives.
func (s *Links) mayStillInvite(tx *metadata.Tx, p auth.Principal, l metadata.Link) (err error) {
	var d metadata.Dataspace
	if l.DataspaceID != (metadata.ID{}) {
		d, err = tx.Dataspaces.Get(l.DataspaceID)
	}
	if err == nil {
		err = s.mayInvite(tx, p, d, l.Role)
	}
	return err
}
