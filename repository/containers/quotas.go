package containers

import (
	"context"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// setQuota sets a quota that an input has.
func setQuota(at, bytes *int64) error {
	if bytes != nil && *bytes < 0 {
		return core.Invalid("quota", "quota must be a whole number of bytes; 0 is no limit")
	}
	core.Set(at, bytes)
	return nil
}

// onlySysadminSets refuses anybody else to give a quota that differs from the one before, or from
// that of every new object.
func onlySysadminSets(p auth.Principal, before, after int64) error {
	if before == after {
		return nil
	}
	return core.OnlySysadmin(p)
}

// Share is how much of a quota is used, in bytes.
type Share struct {
	Used  int64
	Quota int64 // 0: no limit
}

// UserUsage returns how many bytes the versions have that a user has stored, to that user and to
// sysadmins.
func (s *Users) UserUsage(ctx context.Context, p auth.Principal, id string) (share Share, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := core.LookupUser(tx, core.Myself(p, id), "")
		if err != nil {
			return err
		}
		if err := core.Oneself(p, u.ID); err != nil {
			return err
		}
		used, err := tx.UserUsage.Get(u.ID)
		share = Share{used.Bytes, u.Quota}
		return errs.Ignore(err, metadata.ErrNotFound)
	})
	return share, err
}

// quotaShown returns the quota of a dataspace where the caller has a role in it, or is a sysadmin;
// else 0.
func quotaShown(tx *metadata.Tx, p auth.Principal, dataspace metadata.ID) (int64, error) {
	d, err := tx.Dataspaces.Get(dataspace)
	if err != nil || p.Sysadmin || d.Quota == 0 {
		return d.Quota, err
	}
	role, err := core.RoleIn(tx, p.UserID, d.ID)
	if role == auth.None {
		return 0, err
	}
	return d.Quota, err
}
