package containers

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// NewPrivilege describes a role to grant to a user in a dataspace.
type NewPrivilege struct {
	UserID, DataspaceID string
	Role                auth.Role
	core.Input
}

// Grant grants a role in a dataspace to a user and replaces an earlier role. isNew reports whether
// the user had no privilege in this dataspace before, not even a revoked one.
func (s *Users) Grant(ctx context.Context, p auth.Principal, in NewPrivilege) (granted metadata.Privilege, isNew bool, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := core.LookupUser(tx, core.Myself(p, in.UserID), "userId")
		if err != nil {
			return err
		}
		d, err := core.LookupDataspace(tx, in.DataspaceID, "dataspaceId")
		if err != nil {
			return err
		}
		if err := core.Authorise(tx, p, d, auth.Manage); err != nil {
			return err
		}
		if in.Malformed != nil {
			return in.Malformed
		}
		switch {
		case u.State == metadata.Deleted:
			return core.Conflict(errs.CodeUserDeleted, "userId", "this user is deleted; restore the user first")
		case d.State == metadata.Deleted:
			return core.ParentDeleted("dataspaceId", "dataspace")
		}
		granted, isNew, err = Grant(tx, rows.Change{By: p}, metadata.Privilege{UserID: u.ID, DataspaceID: d.ID, Role: in.Role})
		return err
	})
	return granted, isNew, err
}

// Grant grants a role in a dataspace to a user, on behalf of change.By. isNew reports whether the
// user had no privilege in this dataspace before.
func Grant(tx *metadata.Tx, change rows.Change, wanted metadata.Privilege) (granted metadata.Privilege, isNew bool, err error) {
	change.Action = audit.PrivilegeGrant
	granted, err = tx.Privileges.Of(wanted.UserID, wanted.DataspaceID)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		wanted.Record = core.NewRecord(tx, change.By)
		return wanted, true, rows.SavePrivilege(tx, change, nil, wanted)
	case err != nil || granted.State == metadata.Active && granted.Role == wanted.Role:
		return granted, false, err
	}
	before := granted
	granted.State, granted.Role = metadata.Active, wanted.Role
	granted.Modified, granted.ModifiedBy = tx.Stamp(), change.By.UserID
	return granted, false, rows.SavePrivilege(tx, change, &before, granted)
}

// GetPrivilege returns a privilege. It must be the caller's own or in a dataspace in which the
// caller has a role.
func (s *Users) GetPrivilege(ctx context.Context, p auth.Principal, id string) (v metadata.Privilege, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.Unlimited(p); err != nil {
			return err
		}
		if v, err = core.LookupPrivilege(tx, id); err != nil || p.Sysadmin || v.UserID == p.UserID {
			return err
		}
		role, err := core.RoleIn(tx, p.UserID, v.DataspaceID)
		if err == nil && role == auth.None {
			err = core.Forbidden("this privilege belongs to another user, in a dataspace in which you have no role")
		}
		return err
	})
	return v, err
}

// Revoke revokes a privilege.
func (s *Users) Revoke(ctx context.Context, p auth.Principal, id string, match core.Match) (v metadata.Privilege, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if v, err = core.LookupPrivilege(tx, id); err != nil {
			return err
		}
		d, err := tx.Dataspaces.Get(v.DataspaceID)
		if err != nil {
			return err
		}
		if err := core.Authorise(tx, p, d, auth.Manage); err != nil {
			return err
		}
		if err := match.Check(v.Tag(), v.Modified); err != nil || v.State == metadata.Deleted {
			return err
		}
		before := v
		v.State, v.Modified, v.ModifiedBy = metadata.Deleted, tx.Stamp(), p.UserID
		return rows.SavePrivilege(tx, rows.Change{By: p, Action: audit.PrivilegeRevoke}, &before, v)
	})
	return v, err
}
