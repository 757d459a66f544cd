package containers

import (
	"errors"

	"labshelf/auth/errs"
	"labshelf/metadata"
)

// earlier returns the earlier of two expiry times, of which 0 means never.
func earlier(a, b metadata.Stamp) metadata.Stamp {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// keyOf returns the key that a link or a webhook was created with. user is the user on whose behalf
// it acts.
func keyOf(tx *metadata.Tx, user, id metadata.ID) (k metadata.Key, err error) {
	if id == (metadata.ID{}) {
		return k, nil
	}
	if k, err = tx.Keys.Get(user, id); errors.Is(err, metadata.ErrNotFound) {
		err = errors.Join(metadata.ErrRecordDamaged, err)
	}
	return k, err
}

// LinkWithUse is a link with its usage and its present state.
type LinkWithUse struct {
	metadata.Link
	Use        metadata.LinkUse
	StateIs    metadata.LinkState
	Unfinished Unfinished // only for users who manage the link
}

// Unfinished counts the unfinished uploads of a request link.
type Unfinished struct {
	Uploads int
	Bytes   int64 // received so far
}

// WithUse reads the usage of a link. The link expires no later than the key that it was created
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
