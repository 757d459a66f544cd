package core

import (
	"context"
	"errors"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/refusals"
	"labshelf/repository/internal/storage"
)

// Credentials authenticates callers by their keys and sessions. It is safe for concurrent use.
type Credentials struct {
	core     *Core
	lastUse  *lastUse
	refusals *refusals.Counter
}

// StartCredentials returns the credentials of a repository. The caller must close them before the
// Core.
func StartCredentials(core *Core) *Credentials {
	return &Credentials{core: core, lastUse: startLastUse(core.Stores.Meta), refusals: refusals.Start(core.Stores)}
}

// Close writes the pending uses of keys and the counts of refused requests.
func (s *Credentials) Close() {
	s.lastUse.worker.Close()
	s.refusals.Close()
}

// Authenticate returns the user of a key. from is the origin of the request. Missing, unknown,
// expired and revoked keys get the same error, but only for an unknown key it wraps ErrUnknownKey.
// A key that is used outside of its networks gets a Forbidden.
func (s *Credentials) Authenticate(ctx context.Context, key string, from auth.Origin) (p auth.Principal, err error) {
	if key == "" {
		return p, unauthenticated()
	}
	digest := auth.DigestKey(key)
	facts, presumed, err := s.core.presentFacts(ctx)
	if err != nil {
		return p, err
	}
	c, ok := cached(facts, callersOf, digest)
	if !ok {
		if c, err = s.readCaller(ctx, digest); err != nil {
			return p, err
		}
	}
	return s.known(c, ok && presumed, from)
}

// known returns the principal of a caller, and records the use of its key. It refuses expired keys,
// and keys that are used outside of their networks.
func (s *Credentials) known(c *caller, presumed bool, from auth.Origin) (auth.Principal, error) {
	p, now := c.Principal, s.core.Now()
	p.Origin = from
	switch {
	case expired(p, now):
		return auth.Principal{}, unauthenticated()
	case !p.Limits.Networks.Contain(from.Address):
		return auth.Principal{}, elsewhere()
	}
	s.lastUse.observe(c, now)
	p.Presumed = presumed
	return p, nil
}

// readCaller reads the caller of the key with this digest from the tables.
func (s *Credentials) readCaller(ctx context.Context, digest auth.KeyDigest) (c *caller, err error) {
	err = s.core.Stores.Meta.View(ctx, func(tx *metadata.Tx) error {
		k, err := tx.Keys.ByDigest(digest)
		if errors.Is(err, metadata.ErrNotFound) {
			return ErrUnknownKey
		}
		if err != nil {
			return err
		}
		if c, err = readHolder(tx, k); err != nil {
			return err
		}
		cache(s.core.facts.at(c.AsOf), callersOf, digest, c, 1)
		return nil
	})
	return c, refusedCaller(err)
}

// readHolder returns the caller of a key. It returns ErrNotFound if the key is revoked or its user
// is deleted.
func readHolder(tx *metadata.Tx, k metadata.Key) (*caller, error) {
	u, err := tx.Users.Get(k.UserID)
	if err != nil {
		return nil, err
	}
	if k.Gone != 0 || u.State != metadata.Active {
		return nil, metadata.ErrNotFound
	}
	p := auth.Principal{UserID: u.ID, KeyID: k.ID, Username: u.Username, Limits: k.Limits, Expires: int64(k.Expires), AsOf: tx.Access()}
	c := &caller{Principal: p.WithRights(u.Sysadmin)}
	c.used.Store(int64(k.LastUsed))
	return c, nil
}

// refusedCaller converts the error of looking up a key or session.
func refusedCaller(err error) error {
	if errors.Is(err, metadata.ErrNotFound) || errors.Is(err, ErrUnknownKey) {
		refusal := unauthenticated()
		refusal.Err = err
		return refusal
	}
	return storage.Error(err)
}

// expired reports whether the caller's key or session has expired.
func expired(p auth.Principal, now metadata.Stamp) bool {
	return metadata.Key{Expires: metadata.Stamp(p.Expires)}.StateAt(now) == metadata.KeyExpired
}

// NoteRefusal counts a refused request if the reason is a missing or invalid key, or a missing
// permission.
func (s *Credentials) NoteRefusal(kind errs.Kind) { s.refusals.Note(kind) }
