package containers

import (
	"context"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// setQuota sets a quota if bytes is not nil.
func setQuota(at, bytes *int64) error {
	if bytes != nil && *bytes < 0 {
		return core.Invalid("quota", "quota must be a whole number of bytes; 0 is no limit")
	}
	core.Set(at, bytes)
	return nil
}

// onlySysadminSets returns an error if a caller who is not a sysadmin changes a quota from its
// former or default value.
func onlySysadminSets(p auth.Principal, before, after int64) error {
	if before == after {
		return nil
	}
	return core.OnlySysadmin(p)
}

// Share is the usage of a quota, in bytes.
type Share struct {
	Used  int64
	Quota int64 // 0 for no limit
}

// Usage returns the number of bytes of all versions that a user has stored. The caller must be
// that user or a sysadmin.
func (s *Users) Usage(ctx context.Context, p auth.Principal, id string) (share Share, err error) {
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

// quotaShown returns the quota of a dataspace, or 0 if the caller has no role there and is not a
// sysadmin.
func quotaShown(tx *metadata.Tx, p auth.Principal, dataspace metadata.ID) (int64, error) {
	d, err := tx.Dataspaces.Get(dataspace)
	if err != nil || p.Everywhere || d.Quota == 0 {
		return d.Quota, err
	}
	role, err := core.RoleIn(tx, p.UserID, d.ID)
	if role == auth.None {
		return 0, err
	}
	return d.Quota, err
}
