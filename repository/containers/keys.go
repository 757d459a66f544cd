package containers

import (
	"cmp"
	"context"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/internal/rows"
)

// NewKey describes a key to create.
type NewKey struct {
	Label   *string
	Expires *metadata.Stamp
	core.Input
}

// CreateKey creates a key for a user and returns its record and the key, which cannot be read
// later. A key that users create for themselves depends on the key of the request.
func (s *Users) CreateKey(ctx context.Context, p auth.Principal, user string, in NewKey) (created metadata.Key, key string, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := core.LookupUser(tx, core.Myself(p, user), "")
		if err != nil {
			return err
		}
		if err := core.Oneself(p, u.ID); err != nil {
			return err
		}
		k := metadata.Key{UserID: u.ID}
		core.Set(&k.Expires, in.Expires)
		if err := cmp.Or(core.LabelText.Set(&k.Label, "label", in.Label), in.Malformed); err != nil {
			return err
		}
		if in.Expires != nil && k.Expires <= s.core.Now() {
			return core.Invalid("expires", "expires must be in the future")
		}
		if p.UserID == u.ID {
			if err := endWithMaker(tx, p, &k); err != nil {
				return err
			}
		}
		if u.State == metadata.Deleted {
			return core.Conflict(errs.CodeUserDeleted, "", "this user is deleted; restore the user first")
		}
		key = auth.NewKey()
		created, err = StoreKey(tx, p, k, key)
		return err
	})
	return created, key, err
}

// endWithMaker makes a new key depend on the key of the caller, so that it ends no later.
func endWithMaker(tx *metadata.Tx, p auth.Principal, k *metadata.Key) error {
	maker, err := tx.Keys.Get(p.UserID, p.KeyID)
	if err != nil {
		return err
	}
	k.MadeWith = maker.ID
	if maker.Expires == 0 || k.Expires != 0 && k.Expires <= maker.Expires {
		return nil
	}
	if k.Expires != 0 {
		return core.Invalid("expires", "expires must not be later than %s, when the key of this request ends", maker.Expires.Time().UTC().Format(time.RFC3339))
	}
	k.Expires = maker.Expires
	return nil
}

// putKey stores a new key that an operator creates.
func putKey(tx *metadata.Tx, k metadata.Key, key string) error {
	_, err := StoreKey(tx, auth.Principal{}, k, key)
	return err
}

// StoreKey completes the record of a new key and stores it, without the secret key.
func StoreKey(tx *metadata.Tx, by auth.Principal, k metadata.Key, key string) (metadata.Key, error) {
	k.Created = tx.Stamp()
	k.ID, k.Digest, k.Prefix = metadata.NewID(k.Created), auth.DigestKey(key), auth.ShownPrefix(key)
	_, err := rows.SaveKey(tx, rows.Change{By: by, Action: audit.KeyCreate}, k.Created, k)
	return k, err
}

// lookupKey reads a key of a user. The caller must be that user or a sysadmin.
func lookupKey(tx *metadata.Tx, p auth.Principal, user, id string) (metadata.Key, error) {
	u, err := core.LookupUser(tx, core.Myself(p, user), "")
	if err != nil {
		return metadata.Key{}, err
	}
	k, err := core.ByID(func(id metadata.ID) (metadata.Key, error) { return tx.Keys.Get(u.ID, id) }, id)
	if k, err = core.OrNotFound(k, err, errs.CodeKeyNotFound, "key of this user", ""); err != nil {
		return k, err
	}
	return k, core.Oneself(p, u.ID)
}

// RevokeKey permanently revokes a key and ends what depends on it. With keep, the dependents stay
// and depend on the maker of the key.
func (s *Users) RevokeKey(ctx context.Context, p auth.Principal, user, id string, keep bool) error {
	err := s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		k, err := lookupKey(tx, p, user, id)
		if err != nil || k.Gone != 0 {
			return err
		}
		found, err := dependentsOf(tx, k)
		if err != nil {
			return err
		}
		change := rows.Change{By: p, Action: audit.KeyRevoke}
		if keep {
			change.Values.Change("dependents", "", "kept")
		}
		k.Gone = tx.Stamp()
		if change.Cause, err = rows.SaveKey(tx, change, k.Gone, k); err != nil {
			return err
		}
		change.Values = audit.Changes{}
		if keep {
			return found.keep(tx, change, k)
		}
		return found.end(tx, change, k.Gone, metadata.PausedWithKey)
	})
	s.ended()
	return err
}
