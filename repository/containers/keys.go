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

// KeyFields are the changeable fields of a key. A nil field keeps its value.
type KeyFields struct {
	Label       *string
	Expires     *metadata.Stamp // 0: as late as possible
	Scope       *auth.Scope
	DataspaceID *string  // "": all dataspaces
	SetID       *string  // "": all sets; otherwise DataspaceID follows from it
	Networks    []string // empty: all addresses
	core.Input
}

// apply validates the fields and sets them in a key. The caller must be able to read the container
// to which the key is limited.
func (f KeyFields) apply(tx *metadata.Tx, p auth.Principal, k *metadata.Key) error {
	err := cmp.Or(f.applyPlace(tx, p, &k.Limits), core.LabelText.Set(&k.Label, "label", f.Label))
	if err == nil && f.Networks != nil {
		if k.Limits.Networks, err = auth.ParseNetworks(f.Networks); err != nil {
			err = core.Invalid("networks", "networks contains %s", err)
		}
	}
	core.Set(&k.Limits.Scope, f.Scope)
	core.Set(&k.Expires, f.Expires)
	return cmp.Or(err, f.Malformed)
}

// applyPlace sets both ids if either is given, since they name one place.
func (f KeyFields) applyPlace(tx *metadata.Tx, p auth.Principal, l *auth.Limits) error {
	if f.DataspaceID == nil && f.SetID == nil {
		return nil
	}
	l.Dataspace, l.Set = metadata.ID{}, metadata.ID{}
	if id := core.ValueOf(f.DataspaceID); id != "" {
		d, err := core.LookupDataspace(tx, id, "dataspaceId")
		if err == nil {
			err = core.Authorise(tx, p, d, auth.Read)
		}
		if err != nil {
			return err
		}
		l.Dataspace = d.ID
	}
	if id := core.ValueOf(f.SetID); id != "" {
		set, err := core.LookupSet(tx, id, "setId")
		if err == nil {
			err = set.Authorise(tx, p, auth.Read)
		}
		switch {
		case err != nil:
			return err
		case l.Dataspace != metadata.ID{} && l.Dataspace != set.DataspaceID:
			return core.Invalid("setId", "setId must be a set of the dataspace in dataspaceId")
		}
		l.Dataspace, l.Set = set.DataspaceID, set.ID
	}
	return nil
}

// CreateKey creates a key for a user and returns its record and the key, which cannot be read
// later. A key that users create for themselves depends on the key of the request.
func (s *Users) CreateKey(ctx context.Context, p auth.Principal, user string, in KeyFields) (created metadata.Key, key string, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := core.LookupUser(tx, core.Myself(p, user), "")
		if err != nil {
			return err
		}
		if err := core.Oneself(p, u.ID); err != nil {
			return err
		}
		k := metadata.Key{UserID: u.ID}
		if err := s.setKey(tx, p, in, &k); err != nil {
			return err
		}
		if p.UserID == u.ID {
			if err := boundByMaker(tx, p, in, &k); err != nil {
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

// setKey validates the fields and sets them in a key.
func (s *Users) setKey(tx *metadata.Tx, p auth.Principal, in KeyFields, k *metadata.Key) error {
	if err := in.apply(tx, p, k); err != nil {
		return err
	}
	if in.Expires != nil && k.Expires != 0 && k.Expires <= s.core.Now() {
		return core.Invalid("expires", "expires must be in the future")
	}
	return nil
}

// boundByMaker makes a new key depend on the key of the caller. The new key expires no later, and
// can be used only from the networks of that key.
func boundByMaker(tx *metadata.Tx, p auth.Principal, in KeyFields, k *metadata.Key) error {
	maker, err := tx.Keys.Get(p.UserID, p.KeyID)
	if err != nil {
		return err
	}
	k.MadeWith = maker.ID
	if in.Networks == nil {
		k.Limits.Networks = maker.Limits.Networks
	}
	switch {
	case !maker.Limits.Networks.Include(k.Limits.Networks):
		return core.Invalid("networks", "networks must be within the networks of the key of this request: %s", maker.Limits.Networks)
	case maker.Expires == 0 || k.Expires != 0 && k.Expires <= maker.Expires:
		return nil
	case k.Expires != 0:
		return core.Invalid("expires", "expires must not be later than %s, when the key of this request ends", maker.Expires.Time().UTC().Format(time.RFC3339))
	}
	k.Expires = maker.Expires
	return nil
}

// onlyNarrower returns an error if a change would let a key permit more than before. Otherwise a
// key could make another one stronger or more durable than itself.
func onlyNarrower(before, after metadata.Key) error {
	field := ""
	switch was, is := before.Limits, after.Limits; {
	case !was.Scope.Contains(is.Scope):
		field = "scope"
	case was.Dataspace != metadata.ID{} && was.Dataspace != is.Dataspace:
		field = "dataspaceId"
	case was.Set != metadata.ID{} && was.Set != is.Set:
		field = "setId"
	case !was.Networks.Include(is.Networks):
		field = "networks"
	case after.Expires != earlier(before.Expires, after.Expires):
		field = "expires"
	default:
		return nil
	}
	return core.Invalid(field, "%s would permit more than before; a key can only become narrower, so create another key", field)
}

// GetKey returns a key of a user.
func (s *Users) GetKey(ctx context.Context, p auth.Principal, user, id string) (k metadata.Key, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		k, err = lookupKey(tx, p, user, id)
		return err
	})
	return k, err
}

// UpdateKey changes a key, which can only become narrower. If its limits change, everything that
// depends on it ends, since the key could not make it any more. With keep, the dependents stay and
// depend on the maker of the key. An earlier expiry also applies to dependent keys.
func (s *Users) UpdateKey(ctx context.Context, p auth.Principal, user, id string, in KeyFields, keep bool) (k metadata.Key, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, err := lookupKey(tx, p, user, id)
		if err != nil {
			return err
		}
		k = before
		if err := s.setKey(tx, p, in, &k); err != nil {
			return err
		}
		if err := onlyNarrower(before, k); err != nil {
			return err
		}
		if before.StateAt(s.core.Now()) != metadata.KeyActive {
			return core.Conflict(errs.CodeKeyEnded, "", "this key is revoked or has expired; it cannot be changed")
		}
		if k == before {
			return nil
		}
		change := rows.Change{By: p, Action: audit.KeyUpdate}
		if change.Cause, err = rows.UpdateKey(tx, change, before, k); err != nil {
			return err
		}
		found, err := dependentsOf(tx, k)
		switch {
		case err != nil:
			return err
		case k.Limits != before.Limits:
			return found.release(tx, change, k, s.core.Now(), keep)
		}
		return found.expire(tx, change, k.Expires)
	})
	s.ended()
	return k, err
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
	if err := core.Oneself(p, u.ID); err != nil {
		return metadata.Key{}, err
	}
	k, err := core.ByID(func(id metadata.ID) (metadata.Key, error) { return tx.Keys.Get(u.ID, id) }, id)
	return core.OrNotFound(k, err, errs.CodeKeyNotFound, "key of this user", "")
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
		return found.release(tx, change, k, k.Gone, keep)
	})
	s.ended()
	return err
}
