package core

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// A session has the rights of the key that it was created with, as long as both exist. It is a row
// and not a signed token, so that it ends when its user signs out, wherever copies of the token
// are.

// sessionAge is the default maximum age of a session.
const sessionAge = 30 * 24 * time.Hour

// maxSessions is the maximum number of sessions of one user. Beyond it, the oldest one ends.
const maxSessions = 32

// AuthenticateSession is like Authenticate for the token of a session.
func (s *Credentials) AuthenticateSession(ctx context.Context, token string, from auth.Origin) (p auth.Principal, err error) {
	user, digest, ok := auth.ParseSession(token)
	if !ok {
		return p, refusedCaller(ErrUnknownKey)
	}
	facts, presumed, err := s.core.presentFacts(ctx)
	if err != nil {
		return p, err
	}
	c, ok := cached(facts, sessionsOf, digest)
	if !ok {
		if c, err = s.readSession(ctx, user, digest); err != nil {
			return p, err
		}
	}
	return s.known(c, ok && presumed, from)
}

// readSession reads the caller of a session from the tables.
func (s *Credentials) readSession(ctx context.Context, user metadata.ID, digest auth.SessionDigest) (c *caller, err error) {
	err = s.core.Stores.Meta.View(ctx, func(tx *metadata.Tx) error {
		session, err := tx.Sessions.Get(metadata.SessionKey{User: user, Digest: digest})
		if errors.Is(err, metadata.ErrNotFound) {
			return ErrUnknownKey
		}
		if err != nil {
			return err
		}
		k, err := tx.Keys.Get(session.UserID, session.KeyID)
		if err != nil {
			return err
		}
		if c, err = readHolder(tx, k); err != nil {
			return err
		}
		c.Session = digest
		if ends := int64(session.Expires); c.Expires == 0 || ends < c.Expires { // c.Expires is the end of the key
			c.Expires = ends
		}
		cache(s.core.facts.at(c.AsOf), sessionsOf, digest, c, 1)
		return nil
	})
	return c, refusedCaller(err)
}

// SignIn creates a session for a key, and ends the session of the token former, unless that is "".
// from is the origin of the request. The returned token is the only way to use the session; it
// cannot be read later.
func (s *Credentials) SignIn(ctx context.Context, key, former string, from auth.Origin) (p auth.Principal, token string, ends metadata.Stamp, err error) {
	if p, err = s.Authenticate(ctx, key, from); err != nil {
		return p, "", 0, err
	}
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := Unlimited(p); err != nil {
			return err
		}
		token, ends, err = s.BeginSession(tx, p, former)
		return err
	})
	if err != nil {
		return auth.Principal{}, "", 0, err
	}
	return p, token, ends, nil
}

// BeginSession creates a session for the key of a caller, and ends the session of the token former,
// unless that is "".
func (s *Credentials) BeginSession(tx *metadata.Tx, p auth.Principal, former string) (token string, ends metadata.Stamp, err error) {
	if err := s.clearSessions(tx, p); err != nil {
		return "", 0, err
	}
	if err := endSession(tx, former, p.Origin); err != nil {
		return "", 0, err
	}
	session := metadata.Session{UserID: p.UserID, KeyID: p.KeyID, Created: tx.Stamp(), Expires: s.core.Now() + metadata.Stamp(s.core.config.SessionAge/time.Microsecond)}
	if p.Expires != 0 {
		session.Expires = min(session.Expires, metadata.Stamp(p.Expires))
	}
	token, session.Digest = auth.NewSession(p.UserID)
	return token, session.Expires, rows.SaveSession(tx, rows.Change{By: p, Action: audit.SessionBegin}, session)
}

// clearSessions makes room for another session of a user. It removes sessions that have expired or
// whose key is revoked. Of the others, it ends the oldest beyond the maximum; only these get an
// entry in the audit log.
func (s *Credentials) clearSessions(tx *metadata.Tx, p auth.Principal) error {
	var left, gone []metadata.Session
	for session, err := range tx.Sessions.OfUser(p.UserID) {
		if err != nil {
			return err
		}
		k, err := tx.Keys.Get(p.UserID, session.KeyID)
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		if err != nil || k.StateAt(s.core.Now()) != metadata.KeyActive || session.Expires <= s.core.Now() {
			gone = append(gone, session)
			continue
		}
		left = append(left, session)
	}
	for _, session := range gone {
		if err := tx.Sessions.Remove(metadata.SessionKey{User: p.UserID, Digest: session.Digest}); err != nil {
			return err
		}
	}
	slices.SortFunc(left, func(a, b metadata.Session) int { return cmp.Compare(a.Created, b.Created) })
	for len(left) >= maxSessions {
		if err := rows.EndSession(tx, rows.Change{By: p, Action: audit.SessionEnd}, left[0]); err != nil {
			return err
		}
		left = left[1:]
	}
	return nil
}

// SignOut permanently ends a session. A missing or unknown session is not an error.
func (s *Credentials) SignOut(ctx context.Context, token string, from auth.Origin) error {
	user, digest, ok := auth.ParseSession(token)
	if !ok {
		return nil
	}
	// Requests with invalid tokens must not cause commits. ViewDurable makes sure that a session
	// that is gone cannot return after a power failure.
	err := s.core.Stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		_, err := tx.Sessions.Get(metadata.SessionKey{User: user, Digest: digest})
		return err
	})
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return nil
	case err != nil:
		return storage.Error(err)
	}
	return s.core.Stores.Update(ctx, func(tx *metadata.Tx) error { return endSession(tx, token, from) })
}

// endSession ends the session of a token, if it exists, on behalf of its user.
func endSession(tx *metadata.Tx, token string, from auth.Origin) error {
	user, digest, ok := auth.ParseSession(token)
	if !ok {
		return nil
	}
	session, err := tx.Sessions.Get(metadata.SessionKey{User: user, Digest: digest})
	if err != nil {
		return errs.Ignore(err, metadata.ErrNotFound)
	}
	by := auth.Principal{UserID: session.UserID, KeyID: session.KeyID, Origin: from}
	return rows.EndSession(tx, rows.Change{By: by, Action: audit.SessionEnd}, session)
}
