package core

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/refusals"
	"labshelf/repository/internal/rows"
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

// Authenticate returns the user of a key. Missing, unknown, expired and revoked keys get the same
// error, but only for an unknown key it wraps ErrUnknownKey.
func (s *Credentials) Authenticate(ctx context.Context, key string) (p auth.Principal, err error) {
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
	return s.known(c, ok && presumed)
}

// known returns the principal of a caller, and records the use of its key. It refuses expired keys.
func (s *Credentials) known(c *caller, presumed bool) (auth.Principal, error) {
	p, now := c.Principal, s.core.Now()
	if expired(p, now) {
		return auth.Principal{}, unauthenticated()
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
	c := &caller{Principal: auth.Principal{
		UserID: u.ID, KeyID: k.ID, Username: u.Username, Sysadmin: u.Sysadmin, Expires: int64(k.Expires), AsOf: tx.Access(),
	}}
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

// lastUse records when keys were last used, at most once a minute for each key, without delaying
// requests.
type lastUse struct {
	meta   metadata.Transactions
	worker *background.Worker

	mu      sync.Mutex
	pending map[metadata.ID]use // by key
}

// use is the last use of a user's key.
type use struct {
	user metadata.ID
	at   metadata.Stamp
}

const (
	lastUseGrain   = metadata.Stamp(time.Minute / time.Microsecond)
	lastUsePending = 64 // maximum number of keys
)

func startLastUse(meta metadata.Transactions) *lastUse {
	l := &lastUse{meta: meta, pending: map[metadata.ID]use{}}
	l.worker = background.Start(background.Idle(), l.save)
	return l
}

// observe remembers a use at now. It never waits. If too many uses are pending, the next use of the
// key is recorded instead.
func (l *lastUse) observe(c *caller, now metadata.Stamp) {
	before := c.used.Load()
	if now-metadata.Stamp(before) < lastUseGrain || !c.used.CompareAndSwap(before, int64(now)) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) == lastUsePending {
		c.used.Store(before)
		return
	}
	l.pending[c.KeyID] = use{c.UserID, now}
	l.worker.Wake()
}

func (l *lastUse) save(ctx context.Context) background.Next {
	l.mu.Lock()
	pending := l.pending
	l.pending = map[metadata.ID]use{}
	l.mu.Unlock()
	for key, used := range pending {
		// Ignore errors: other tasks report whatever prevents this write.
		_ = l.meta.UpdateBackground(ctx, func(tx *metadata.Tx) error {
			k, err := tx.Keys.Get(used.user, key)
			if err != nil || k.Gone != 0 { // the caller was presumed
				return err
			}
			k.LastUsed = max(k.LastUsed, used.at)
			return tx.Keys.Put(k)
		})
	}
	return background.Idle()
}

// A session has the rights of the key that it was made with, as long as both exist. It is a row and
// not a signed token, so that it ends when its user signs out, wherever copies of the token are.

// sessionAge is the default maximum age of a session.
const sessionAge = 30 * 24 * time.Hour

// maxSessions is the maximum number of sessions of one user. Beyond it, the oldest one ends.
const maxSessions = 32

// AuthenticateSession is Authenticate for the token of a session.
func (s *Credentials) AuthenticateSession(ctx context.Context, token string) (p auth.Principal, err error) {
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
	return s.known(c, ok && presumed)
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
		c.Session, c.Expires = digest, int64(session.Expires) // a session ends no later than its key
		cache(s.core.facts.at(c.AsOf), sessionsOf, digest, c, 1)
		return nil
	})
	return c, refusedCaller(err)
}

// SignIn creates a session for a key, and ends the session of the token former, unless that is "".
// from is the origin of the request. The returned token is the only way to use the session; it
// cannot be read later.
func (s *Credentials) SignIn(ctx context.Context, key, former string, from auth.Origin) (p auth.Principal, token string, ends metadata.Stamp, err error) {
	if p, err = s.Authenticate(ctx, key); err != nil {
		return p, "", 0, err
	}
	p.Origin = from
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
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
		if err != nil || k.Gone != 0 || session.Expires <= s.core.Now() {
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

// NoteRefusal counts a refused request if the reason is a missing or invalid key, or a missing
// permission.
func (s *Credentials) NoteRefusal(kind errs.Kind) { s.refusals.Note(kind) }
