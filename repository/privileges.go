package repository

import (
	"context"
	"errors"

	"labshelf/audit"
	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

func setRole(v *metadata.Privilege, field string, value any) error {
	s, err := stringValue(field, value)
	if err != nil {
		return err
	}
	role, ok := auth.ParseRole(s)
	if !ok {
		return invalid(field, "role must be member, editor or admin")
	}
	v.Role = role
	return nil
}

// Grant gives a user a role in a dataspace, instead of an earlier one. Fields: userId, dataspaceId, role. isNew tells that the
// pair had no privilege before, not even a revoked one.
func (s *Service) Grant(ctx context.Context, p auth.Principal, f Fields) (granted metadata.Privilege, isNew bool, err error) {
	userID, err := f.required("userId")
	if err != nil {
		return granted, false, err
	}
	dataspaceID, err := f.required("dataspaceId")
	if err != nil {
		return granted, false, err
	}
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := lookupUser(tx, myself(p, userID), "userId")
		if err != nil {
			return err
		}
		d, err := lookupDataspace(tx, dataspaceID, "dataspaceId")
		if err != nil {
			return err
		}
		if err := authorise(tx, p, d, auth.Manage); err != nil {
			return err
		}
		wanted := metadata.Privilege{UserID: u.ID, DataspaceID: d.ID}
		if _, err := f.required("role"); err != nil {
			return err
		}
		if err := create(&wanted, f, setters[metadata.Privilege]{"role": setRole}, "userId", "dataspaceId"); err != nil {
			return err
		}
		switch {
		case u.State == metadata.Deleted:
			return conflict(errs.CodeUserDeleted, "userId", "this user is deleted; restore the user first")
		case d.State == metadata.Deleted:
			return parentDeleted("dataspaceId", "dataspace")
		}
		granted, isNew, err = grant(tx, p, wanted)
		return err
	})
	return granted, isNew, err
}

func grant(tx *metadata.Tx, p auth.Principal, wanted metadata.Privilege) (granted metadata.Privilege, isNew bool, err error) {
	change := rows.Change{By: p, Action: audit.PrivilegeGrant}
	granted, err = tx.Privileges.Of(wanted.UserID, wanted.DataspaceID)
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		wanted.Record = newRecord(tx, p)
		return wanted, true, rows.SavePrivilege(tx, change, nil, wanted)
	case err != nil || granted.State == metadata.Active && granted.Role == wanted.Role:
		return granted, false, err
	}
	before := granted
	granted.State, granted.Role = metadata.Active, wanted.Role
	granted.Modified, granted.ModifiedBy = tx.Stamp(), p.UserID
	return granted, false, rows.SavePrivilege(tx, change, &before, granted)
}

// GetPrivilege returns one privilege: the caller's own, or one of a dataspace in which the caller has a role.
func (s *Service) GetPrivilege(ctx context.Context, p auth.Principal, id string) (v metadata.Privilege, err error) {
	err = s.view(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if v, err = lookupPrivilege(tx, id); err != nil || p.Sysadmin || v.UserID == p.UserID {
			return err
		}
		role, err := roleIn(tx, p.UserID, v.DataspaceID)
		if err == nil && role == auth.None {
			err = forbidden("this privilege is another user's, in a dataspace where you have no role")
		}
		return err
	})
	return v, err
}

// Revoke takes a role away.
func (s *Service) Revoke(ctx context.Context, p auth.Principal, id string, match Match) (v metadata.Privilege, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if v, err = lookupPrivilege(tx, id); err != nil {
			return err
		}
		d, err := tx.Dataspaces.Get(v.DataspaceID)
		if err != nil {
			return err
		}
		if err := authorise(tx, p, d, auth.Manage); err != nil {
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
