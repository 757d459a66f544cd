package repository

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"labshelf/audit"
	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// A session stands for the key that it was made with: its token allows what the key allows, as long as there are
// both. It is a row, and not something signed, so that it ends when its user signs out, wherever a copy of the token is.

// sessionAge is how long a session lasts where nobody says otherwise.
const sessionAge = 30 * 24 * time.Hour

// maxSessions bounds those of one user. Beyond it the oldest one ends.
const maxSessions = 32

// AuthenticateSession is Authenticate for the token of a session.
func (s *Service) AuthenticateSession(ctx context.Context, token string) (p auth.Principal, err error) {
	user, digest, ok := auth.ParseSession(token)
	if !ok {
		refusal := unauthenticated()
		refusal.Err = ErrUnknownKey
		return p, refusal
	}
	now := s.now()
	c, ok := cached(s.facts.at(s.stores.Meta.AccessVersion()), sessionsOf, digest)
	if !ok {
		if c, err = s.readSession(ctx, user, digest); err != nil {
			return p, err
		}
	}
	if expired(c.Principal, now) {
		return p, unauthenticated()
	}
	s.lastUse.observe(c, now)
	return c.Principal, nil
}

// readSession returns the caller that a session stands for, from the tables.
func (s *Service) readSession(ctx context.Context, user metadata.ID, digest auth.SessionDigest) (c *caller, err error) {
	err = s.stores.Meta.View(ctx, func(tx *metadata.Tx) error {
		session, err := tx.Sessions.Get(user, digest)
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
		c.Session, c.Expires = digest, int64(session.Expires) // the key's end is not before that
		cache(s.facts.at(c.AsOf), sessionsOf, digest, c, 1)
		return nil
	})
	return c, refusedCaller(err)
}

// SignIn makes a session of a key, and ends the former one, if that is not "". from is where the request comes from. Only the token that it returns opens it, and nothing
// can show that again.
func (s *Service) SignIn(ctx context.Context, key, former string, from auth.Origin) (p auth.Principal, token string, ends metadata.Stamp, err error) {
	if p, err = s.Authenticate(ctx, key); err != nil {
		return p, "", 0, err
	}
	p.Origin = from
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := s.clearSessions(tx, p); err != nil {
			return err
		}
		if err := endSession(tx, former, from); err != nil {
			return err
		}
		session := metadata.Session{UserID: p.UserID, KeyID: p.KeyID, Created: tx.Stamp(), Expires: s.now() + metadata.Stamp(s.config.SessionAge/time.Microsecond)}
		if p.Expires != 0 {
			session.Expires = min(session.Expires, metadata.Stamp(p.Expires))
		}
		token, session.Digest = auth.NewSession(p.UserID)
		ends = session.Expires
		return rows.SaveSession(tx, rows.Change{By: p, Action: audit.SessionBegin}, session)
	})
	if err != nil {
		return auth.Principal{}, "", 0, err
	}
	return p, token, ends, nil
}

// clearSessions makes room for another session of a user: those that have ended go, with the key or by themselves, and of the
// others as many of the oldest as are too many. Only those of the latter end now.
func (s *Service) clearSessions(tx *metadata.Tx, p auth.Principal) error {
	var left, gone []metadata.Session
	for session, err := range tx.Sessions.OfUser(p.UserID) {
		if err != nil {
			return err
		}
		k, err := tx.Keys.Get(p.UserID, session.KeyID)
		if err != nil && !errors.Is(err, metadata.ErrNotFound) {
			return err
		}
		if err != nil || k.Gone != 0 || session.Expires <= s.now() {
			gone = append(gone, session)
			continue
		}
		left = append(left, session)
	}
	for _, session := range gone {
		if err := tx.Sessions.Remove(p.UserID, session.Digest); err != nil {
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

// SignOut ends a session for good. That there is none, or never was, is no error.
func (s *Service) SignOut(ctx context.Context, token string, from auth.Origin) error {
	user, digest, ok := auth.ParseSession(token)
	if !ok {
		return nil
	}
	// Strangers have no part in a commit. But that a session is gone counts only when it cannot come back after a power cut.
	err := s.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		_, err := tx.Sessions.Get(user, digest)
		return err
	})
	switch {
	case errors.Is(err, metadata.ErrNotFound):
		return nil
	case err != nil:
		return storage.Error(err)
	}
	return s.stores.Update(ctx, func(tx *metadata.Tx) error { return endSession(tx, token, from) })
}

// endSession ends the session of a token, if there is one, in the name of its user.
func endSession(tx *metadata.Tx, token string, from auth.Origin) error {
	user, digest, ok := auth.ParseSession(token)
	if !ok {
		return nil
	}
	session, err := tx.Sessions.Get(user, digest)
	if err != nil {
		return errs.Ignore(err, metadata.ErrNotFound)
	}
	by := auth.Principal{UserID: session.UserID, KeyID: session.KeyID, Origin: from}
	return rows.EndSession(tx, rows.Change{By: by, Action: audit.SessionEnd}, session)
}
