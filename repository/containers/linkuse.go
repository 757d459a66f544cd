package containers

import (
	"errors"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// earlier returns the earlier one of two ends; 0: never.
func earlier(a, b metadata.Stamp) metadata.Stamp {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// keyOf returns the key that a link or a webhook was made with, of the user in whose name it acts.
func keyOf(tx *metadata.Tx, user, id metadata.ID) (k metadata.Key, err error) {
	if id == (metadata.ID{}) {
		return k, nil
	}
	if k, err = tx.Keys.Get(user, id); errors.Is(err, metadata.ErrNotFound) {
		err = errors.Join(metadata.ErrRecordDamaged, err)
	}
	return k, err
}

// LinkWithUse is a link with what has come of it, and its state at the moment.
type LinkWithUse struct {
	metadata.Link
	Use        metadata.LinkUse
	StateIs    metadata.LinkState
	Unfinished Unfinished // only for those who manage the link
}

// Unfinished is what the unfinished uploads of a request link hold.
type Unfinished struct {
	Uploads int
	Bytes   int64 // that have come
}

// WithUse reads what has come of a link. It ends, at the latest, with the key that it was made
// with.
func (s *Users) WithUse(tx *metadata.Tx, l metadata.Link) (LinkWithUse, error) {
	use, err := tx.LinkUses.Get(l.ID)
	if err = errs.Ignore(err, metadata.ErrNotFound); err != nil {
		return LinkWithUse{}, err
	}
	k, err := keyOf(tx, l.OwnerID, l.MadeWith)
	l.Expires = earlier(l.Expires, k.Expires)
	with := LinkWithUse{Link: l, Use: use, StateIs: l.StateAt(s.core.Now(), use)}
	if k.Gone != 0 {
		with.StateIs = metadata.LinkRevoked
	}
	return with, err
}
