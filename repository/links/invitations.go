package links

import (
	"time"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// An invitation is a link that can be used once. It creates a user with a key, or grants a role to
// an existing user. It acts on behalf of its owner, as long as the owner has the right to do so.

// The default and the maximum age of an invitation.
const (
	invitationAge    = 7 * 24 * time.Hour
	maxInvitationAge = 30 * 24 * time.Hour
)

// AdminsInvite reports whether admins may invite people into their dataspaces.
func (s *Links) AdminsInvite() bool { return s.config.AdminsInvite }

// newInvitation validates a new invitation.
func (s *Links) newInvitation(tx *metadata.Tx, p auth.Principal, in NewLink) (l metadata.Link, err error) {
	l.Kind, l.MaxUses = metadata.Invitation, 1
	var d metadata.Dataspace
	if in.DataspaceID != nil {
		if d, err = core.LookupDataspace(tx, *in.DataspaceID, "dataspaceId"); err != nil {
			return l, err
		}
	}
	if err := s.mayInvite(tx, p, d, auth.None); err != nil {
		return l, err
	}
	if withDataspace := in.DataspaceID != nil; withDataspace != (in.Role != nil) {
		return l, core.Missing(map[bool]string{true: "role", false: "dataspaceId"}[withDataspace], "dataspaceId and role must be given together; an invitation without them only creates an account")
	}
	if in.Role != nil {
		l.DataspaceID, l.Role = d.ID, *in.Role
	}
	if err := in.fits(l.Kind); err != nil {
		return l, err
	}
	if err := in.apply(&l); err != nil {
		return l, err
	}
	if err := s.bound(&l, in.Expires != nil); err != nil {
		return l, err
	}
	if d.State == metadata.Deleted && in.DataspaceID != nil {
		return l, core.ParentDeleted("dataspaceId", "dataspace")
	}
	return l, s.mayInvite(tx, p, d, l.Role)
}

// mayInvite returns an error if the caller is not allowed to invite people. Sysadmins may always,
// also without a dataspace. If the configuration allows it, admins of a dataspace may, with at most
// their own role.
func (s *Links) mayInvite(tx *metadata.Tx, p auth.Principal, d metadata.Dataspace, role auth.Role) error {
	switch {
	case p.Sysadmin:
		return nil
	case d.ID == metadata.ID{}:
		return core.Forbidden("only a sysadmin can create an invitation without a dataspace")
	}
	if err := core.Authorise(tx, p, d, auth.Manage); err != nil {
		return err
	}
	if !s.config.AdminsInvite {
		return core.Forbidden("only sysadmins can invite people here; the operator can also allow admins to do so (invitations in the configuration)")
	}
	own, err := core.RoleIn(tx, p.UserID, d.ID)
	if err == nil && role > own {
		err = core.Forbidden("your role in this dataspace is %s, and you cannot invite as %s", own, role)
	}
	return err
}

// mayStillInvite is mayInvite for an existing invitation.
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
