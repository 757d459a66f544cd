package files

import (
	"context"
	"errors"
	"math"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/storage"
)

// room returns the free bytes of the file system for files. known is false if they are unknown.
func (s *Uploads) room() (bytes int64, known bool) {
	if s.config.Room == nil {
		return 0, false
	}
	room, err := s.config.Room()
	return room.Bytes, err == nil
}

// Stored bytes must fit on the disk and within the quotas of the dataspace and of the user. See
// package quota.

// reserve begins a reservation if a quota applies and the upload has no reservation.
func (u *Upload) reserve(tx *metadata.Tx, at quota.Place) error {
	limited, err := quota.Limited(tx, at)
	if limited && u.reserved == nil && u.with == nil {
		u.reserved = u.service.core.Quotas.Begin(at)
	}
	return err
}

// Limit returns the maximum number of bytes of a file, or 0 for no limit.
func (u *Upload) Limit() int64 { return u.service.config.MaxUpload }

// RoomFor returns an error if a file of at least this many bytes cannot fit on the disk. A file
// that fits now may still fail later. Receive checks the quotas.
func (u *Upload) RoomFor(bytes int64) error {
	u.least = bytes
	if bytes <= u.service.core.Inline.Limit() { // the database may have free pages
		return nil
	}
	return u.service.roomFor(bytes)
}

func (s *Uploads) roomFor(bytes int64) error {
	if s.config.Room == nil {
		return nil
	}
	room, err := s.config.Room()
	if err != nil || bytes <= room.Bytes && room.Files != 0 {
		return nil // if the space is unknown, writing the file decides
	}
	return storage.Error(metadata.ErrNoSpace)
}

// MaxUpload returns the maximum number of bytes of a file, or 0 for no limit.
func (s *Uploads) MaxUpload() int64 { return s.config.MaxUpload }

// placeOf returns the place that the file of an upload counts in.
func placeOf(tx *metadata.Tx, t metadata.ResumableUpload) (quota.Place, error) {
	at := quota.Place{User: t.SenderID}
	link, err := tx.Links.Get(t.SenderID)
	if err == nil {
		at.User = link.OwnerID
	} else if !errors.Is(err, metadata.ErrNotFound) {
		return at, err
	}
	if t.ResourceID != (metadata.ID{}) {
		r, err := tx.Resources.Get(t.ResourceID)
		at.Dataspace = r.DataspaceID
		return at, err
	}
	set, err := tx.Sets.Get(t.SetID)
	at.Dataspace = set.DataspaceID
	return at, err
}

// restoreReservations restores the reservations of unfinished uploads from before a restart. It
// calls fromLink for each upload through a link. The error reports uploads that it could not read.
func (s *Uploads) restoreReservations(fromLink func(link, upload metadata.ID)) error {
	var unread error
	err := s.core.Stores.Meta.View(context.Background(), func(tx *metadata.Tx) error {
		for id, err := range tx.Uploads.Ended(math.MaxInt64) {
			if err != nil {
				return err
			}
			t, err := tx.Uploads.Get(id)
			if err != nil || t.Done() || t.Expires <= s.core.Now() {
				unread = errors.Join(unread, err)
				continue
			}
			at, err := placeOf(tx, t)
			if err != nil {
				unread = errors.Join(unread, errs.Ignore(err, metadata.ErrNotFound)) // its destination is gone
				continue
			}
			s.core.Quotas.Restore(id, at, t.Checkpoint.Size)
			if at.User != t.SenderID {
				fromLink(t.SenderID, id)
			}
		}
		return nil
	})
	return errors.Join(err, unread)
}

// RoomIn returns how many bytes the caller may still store in a dataspace or, if dataspace is nil,
// under the caller's own quota. Sysadmins also see the limit of the disk. known is false if no
// visible limit applies: callers without write permission do not see quotas.
func (s *Uploads) RoomIn(ctx context.Context, p auth.Principal, dataspace *metadata.Dataspace) (bytes int64, known bool, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) (err error) {
		at := quota.Place{User: p.UserID}
		if dataspace == nil && core.Unlimited(p) != nil {
			return nil // the rest of the quota would reveal the usage elsewhere
		}
		if dataspace != nil {
			if core.Authorise(tx, p, *dataspace, auth.Write) != nil {
				return nil
			}
			at.Dataspace = dataspace.ID
		}
		bytes, known, err = quota.Left(tx, at)
		if !p.Sysadmin {
			return err
		}
		if disk, measured := s.room(); measured && (!known || disk < bytes) {
			bytes, known = disk, true
		}
		return err
	})
	return bytes, known, err
}
