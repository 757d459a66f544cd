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

// Credentials tells callers by their keys and sessions. It is safe for concurrent use.
type Credentials struct {
	core     *Core
	lastUse  *lastUse
	refusals *refusals.Counter
}

// StartCredentials returns the credentials of a repository. The caller closes them before the Core.
func StartCredentials(core *Core) *Credentials {
	return &Credentials{core: core, lastUse: startLastUse(core.Stores.Meta), refusals: refusals.Start(core.Stores)}
}

// Close writes down what is still to be written of the uses of keys, and of refusals.
func (s *Credentials) Close() {
	s.lastUse.worker.Close()
	s.refusals.Close()
}

// Authenticate returns the user to whom a key belongs. No key, an unknown, an expired and a revoked
// one give the same refusal; only that of an unknown one has the cause ErrUnknownKey.
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

// known returns the principal of a caller, and notes the use of its key. One that has expired is
// refused.
func (s *Credentials) known(c *caller, presumed bool) (auth.Principal, error) {
	p, now := c.Principal, s.core.Now()
	if expired(p, now) {
		return auth.Principal{}, unauthenticated()
	}
	s.lastUse.observe(c, now)
	p.Presumed = presumed
	return p, nil
}

// readCaller returns the caller that the key with this digest stands for, from the tables.
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

// readHolder returns the caller that a key stands for; ErrNotFound where it has been revoked or its
// user deleted.
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

// refusedCaller is the answer where the lookup of a key or session failed with err.
func refusedCaller(err error) error {
	if errors.Is(err, metadata.ErrNotFound) || errors.Is(err, ErrUnknownKey) {
		refusal := unauthenticated()
		refusal.Err = err
		return refusal
	}
	return storage.Error(err)
}

// expired tells whether the key that the caller came with has ended by itself.
func expired(p auth.Principal, now metadata.Stamp) bool {
	return metadata.Key{Expires: metadata.Stamp(p.Expires)}.StateAt(now) == metadata.KeyExpired
}

// lastUse writes down when keys were last used, at most once a minute each, without delaying
// requests.
type lastUse struct {
	meta   metadata.Transactions
	worker *background.Worker

	mu      sync.Mutex
	pending map[metadata.ID]use // by key
}

// use is that a key of a user was used, and when.
type use struct {
	user metadata.ID
	at   metadata.Stamp
}

const (
	lastUseGrain   = metadata.Stamp(time.Minute / time.Microsecond)
	lastUsePending = 64 // keys, at most
)

func startLastUse(meta metadata.Transactions) *lastUse {
	l := &lastUse{meta: meta, pending: map[metadata.ID]use{}}
	l.worker = background.Start(background.Idle(), l.save)
	return l
}

// observe remembers a use at now. It never waits; a note that finds no place is made at the next
// use.
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
		// A failure is no news here: whatever keeps this write from being made, others report.
		_ = l.meta.UpdateBackground(ctx, func(tx *metadata.Tx) error {
			k, err := tx.Keys.Get(used.user, key)
			if err != nil || k.Gone != 0 { // its caller was presumed
				return err
			}
			k.LastUsed = max(k.LastUsed, used.at)
			return tx.Keys.Put(k)
		})
	}
	return background.Idle()
}

// A session stands for the key that it was made with: its token allows what the key allows, as long
// as there are both. It is a row, and not something signed, so that it ends when its user signs
// out, wherever a copy of the token is.

// sessionAge is how long a session lasts where nobody says otherwise.
const sessionAge = 30 * 24 * time.Hour

// maxSessions bounds those of one user. Beyond it the oldest one ends.
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

// readSession returns the caller that a session stands for, from the tables.
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
		c.Session, c.Expires = digest, int64(session.Expires) // the key's end is not before that
		cache(s.core.facts.at(c.AsOf), sessionsOf, digest, c, 1)
		return nil
	})
	return c, refusedCaller(err)
}

// SignIn makes a session of a key, and ends the former one, if that is not "". from is where the
// request comes from. Only the token that it returns opens it, and nothing can show that again.
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

// BeginSession makes a session of the key of a caller, and ends the former one, if that is not "".
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

// clearSessions makes room for another session of a user: those that have ended go, with the key or
// by themselves, and of the others as many of the oldest as are too many. Only those of the latter
// end now.
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

// SignOut ends a session for good. That there is none, or never was, is no error.
func (s *Credentials) SignOut(ctx context.Context, token string, from auth.Origin) error {
	user, digest, ok := auth.ParseSession(token)
	if !ok {
		return nil
	}
	// Strangers have no part in a commit. But that a session is gone counts only when it cannot
	// come back after a power cut.
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

// endSession ends the session of a token, if there is one, in the name of its user.
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

// NoteRefusal counts a request that was refused for want of a valid key or of permission; of any
// other kind it takes no note.
func (s *Credentials) NoteRefusal(kind errs.Kind) { s.refusals.Note(kind) }
