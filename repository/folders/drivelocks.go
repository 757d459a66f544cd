package folders

import (
	"context"
	"errors"
	"math"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
)

// DriveLock is a lock that a client of the drive holds, as its gateway writes it. The rules know no
// such lock: it binds clients of the drive alone.
type DriveLock struct {
	Token string
	Text  string
	Ends  metadata.Stamp
}

const driveLease = "drive/" // begins the names of the leases of these locks

// SharesDriveLocks tells whether clients of the drive may be served by other nodes, too, so that
// their locks have to be kept here.
func (s *Drive) SharesDriveLocks() bool { return s.core.Stores.Node.Shared() }

// DriveLocks returns the locks of all nodes, some of which may have ended.
func (s *Drive) DriveLocks(ctx context.Context) (all []DriveLock, err error) {
	err = s.core.Stores.View(ctx, func(tx *metadata.Tx) error {
		all, err = driveLocks(tx)
		return err
	})
	return all, err
}

// ChangeDriveLocks puts what change returns in place of the locks of all nodes. now is the clock of
// all of them. Change may run more than once.
func (s *Drive) ChangeDriveLocks(ctx context.Context, change func(now metadata.Stamp, all []DriveLock) []DriveLock) error {
	return s.core.Stores.Update(ctx, func(tx *metadata.Tx) error {
		before, err := driveLocks(tx)
		if err != nil {
			return err
		}
		gone := map[DriveLock]bool{}
		for _, l := range before {
			gone[l] = true
		}
		var changed []DriveLock
		for _, l := range change(tx.Now(), before) {
			if !gone[l] {
				changed = append(changed, l)
			}
			delete(gone, l)
		}
		for l := range gone {
			if err := tx.Leases.Remove(driveLease + l.Token); err != nil {
				return err
			}
		}
		for _, l := range changed {
			if err := tx.Leases.Put(metadata.Lease{Name: driveLease + l.Token, Ends: l.Ends, Detail: l.Text}); err != nil {
				return err
			}
		}
		return nil
	})
}

func driveLocks(tx *metadata.Tx) (all []DriveLock, err error) {
	leases, err := rows.Collect(tx.Leases.Under(driveLease), math.MaxInt)
	for _, l := range leases {
		all = append(all, DriveLock{strings.TrimPrefix(l.Name, driveLease), l.Detail, l.Ends})
	}
	return all, err
}

// LockHolder is a user with a key who has locked something in a set of the drive.
type LockHolder struct {
	User, Key metadata.ID
	In        DrivePath // the set
}

// EndedHolders returns those of the holders who may not write to their sets any more: the user is
// deleted, the key has expired or was revoked, the role is gone, or the set is.
func (s *Drive) EndedHolders(ctx context.Context, holders []LockHolder) (ended []LockHolder, err error) {
	err = s.core.Stores.View(ctx, func(tx *metadata.Tx) error {
		ended = nil
		for _, holder := range holders {
			err := s.core.AsCaller(auth.Principal{UserID: holder.User, KeyID: holder.Key}, func(tx *metadata.Tx, p auth.Principal) error {
				at, err := locate(tx, p, holder.In, auth.Write)
				if err == nil && at.Missing != Present {
					err = ContainersStay()
				}
				return err
			})(tx)
			if refused, is := errors.AsType[*errs.Error](err); is && (refused.Kind == errs.Forbidden || refused.Kind == errs.Unauthenticated) {
				ended = append(ended, holder)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return ended, err
}

// EndsLocks returns an error unless the caller may end the locks of others at a path of the drive,
// as admins of the dataspace may.
func (s *Drive) EndsLocks(ctx context.Context, p auth.Principal, path DrivePath) error {
	return s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, err := locate(tx, p, path, auth.Manage)
		return err
	})
}
