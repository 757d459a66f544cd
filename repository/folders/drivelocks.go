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

// DriveLock is a lock of a client of the drive, in the form of its gateway. It binds only clients
// of the drive: use cases ignore it.
type DriveLock struct {
	Token string
	Text  string
	Ends  metadata.Stamp
}

const driveLease = "drive/" // prefix of the names of their leases

// SharesDriveLocks reports whether other nodes may serve clients of the drive, too. Gateways must
// then keep their locks here.
func (s *Drive) SharesDriveLocks() bool { return s.core.Stores.Node.Shared() }

// DriveLocks returns the locks of all nodes, including some that may have ended.
func (s *Drive) DriveLocks(ctx context.Context) (all []DriveLock, err error) {
	err = s.core.Stores.View(ctx, func(tx *metadata.Tx) error {
		all, err = driveLocks(tx)
		return err
	})
	return all, err
}

// ChangeDriveLocks replaces the locks of all nodes with the result of change. now is the common
// clock of the nodes. change may be called more than once.
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

// LockHolder is a user with a key who holds a lock in a set of the drive.
type LockHolder struct {
	User, Key metadata.ID
	In        DrivePath // the set
}

// EndedHolders returns the holders who may no longer write to their sets: the user or the set is
// deleted, the key has expired or was revoked, or the user has lost the role.
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

// EndsLocks returns an error unless the caller may end other users' locks at a path of the drive.
// Admins of the dataspace may.
func (s *Drive) EndsLocks(ctx context.Context, p auth.Principal, path DrivePath) error {
	return s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		_, err := locate(tx, p, path, auth.Manage)
		return err
	})
}
