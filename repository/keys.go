package repository

import (
	"context"
	"errors"
	"sync"
	"time"

	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/paging"
)

// Authenticate returns the user to whom a key belongs. No key, an unknown, an expired and a revoked one give the same refusal;
// only that of an unknown one has the cause ErrUnknownKey.
func (s *Service) Authenticate(ctx context.Context, key string) (p auth.Principal, err error) {
	if key == "" {
		return p, unauthenticated()
	}
	digest, now := auth.DigestKey(key), s.now()
	c, ok := known(s.facts.at(s.meta.AccessVersion()), callersOf, digest)
	if !ok {
		if c, err = s.readCaller(ctx, digest); err != nil {
			return p, err
		}
	}
	if expired(c.Principal, now) {
		return p, unauthenticated()
	}
	s.seen.note(c, now)
	return c.Principal, nil
}

// readCaller is whom the key with this digest makes of those who send it, from the tables.
func (s *Service) readCaller(ctx context.Context, digest auth.KeyDigest) (c *caller, err error) {
	err = s.meta.View(ctx, func(tx *metadata.Tx) error {
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
		keep(s.facts.at(c.AsOf), callersOf, digest, c, 1)
		return nil
	})
	return c, refusedCaller(err)
}

// readHolder is whom a key makes of those who send it; ErrNotFound where it has been revoked or its user deleted.
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

// refusedCaller is what a caller gets whose key or session was looked for with this outcome.
func refusedCaller(err error) error {
	if errors.Is(err, metadata.ErrNotFound) || errors.Is(err, ErrUnknownKey) {
		refusal := unauthenticated()
		refusal.Err = err
		return refusal
	}
	return storageError(err)
}

// expired tells whether the key that the caller came with has ended by itself.
func expired(p auth.Principal, now metadata.Stamp) bool {
	return metadata.Key{Expires: metadata.Stamp(p.Expires)}.StateAt(now) == metadata.KeyExpired
}

// keyFields are the fields of a new key.
var keyFields = setters[metadata.Key]{
	"label":   textSetter(labelText, func(k *metadata.Key) *string { return &k.Label }),
	"expires": setExpires,
}

func setExpires(k *metadata.Key, field string, value any) error {
	s, err := stringValue(field, value)
	if err != nil {
		return err
	}
	instant, _, err := paging.ParseInstant(s)
	var bad *paging.Error
	if errors.As(err, &bad) {
		return invalid(field, "%s: %s", field, bad.Message)
	}
	if k.Expires = metadata.Stamp(instant); k.Expires.Time().Year() > 9999 {
		return invalid(field, "%s must be before the year 10000", field)
	}
	return err
}

// CreateKey makes a key for a user and returns it with its record. Nothing can show it again. Fields: optional label, expires.
func (s *Service) CreateKey(ctx context.Context, p auth.Principal, user string, f Fields) (created metadata.Key, key string, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := findUser(tx, myself(p, user), "")
		if err != nil {
			return err
		}
		if err := oneself(p, u.ID); err != nil {
			return err
		}
		k := metadata.Key{UserID: u.ID}
		if err := create(&k, f, keyFields); err != nil {
			return err
		}
		if _, sent := f["expires"]; sent && k.Expires <= s.now() {
			return invalid("expires", "expires must be in the future")
		}
		if u.State == metadata.Deleted {
			return conflict(errs.CodeUserDeleted, "", "this user is deleted; restore him first")
		}
		key = auth.NewKey()
		created, err = storeKey(tx, k, key)
		return err
	})
	return created, key, err
}

func putKey(tx *metadata.Tx, k metadata.Key, key string) error {
	_, err := storeKey(tx, k, key)
	return err
}

// storeKey completes the record of a new key and stores it, without the key itself.
func storeKey(tx *metadata.Tx, k metadata.Key, key string) (metadata.Key, error) {
	k.Created = tx.Stamp()
	k.ID, k.Digest, k.Prefix = metadata.NewID(k.Created), auth.DigestKey(key), auth.ShownPrefix(key)
	return k, tx.Keys.Put(k)
}

// RevokeKey ends a key for good.
func (s *Service) RevokeKey(ctx context.Context, p auth.Principal, user, id string) error {
	return s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := findUser(tx, myself(p, user), "")
		if err != nil {
			return err
		}
		k, err := byID(func(id metadata.ID) (metadata.Key, error) { return tx.Keys.Get(u.ID, id) }, id)
		if k, err = found(k, err, errs.CodeKeyNotFound, "key of this user", ""); err != nil {
			return err
		}
		if err := oneself(p, u.ID); err != nil || k.Gone != 0 {
			return err
		}
		k.Gone = tx.Stamp()
		return tx.Keys.Put(k)
	})
}

// lastUse writes down when keys were last used, at most once a minute each, off the way of requests.
type lastUse struct {
	notes   chan use
	stop    context.CancelFunc
	stopped chan struct{}

	mu      sync.Mutex
	pending map[metadata.ID]bool
}

// use is a key that was used, and when.
type use struct {
	user, key metadata.ID
	at        metadata.Stamp
}

const lastUseGrain = metadata.Stamp(time.Minute / time.Microsecond)

func startLastUse(meta metadata.Transactions) *lastUse {
	ctx, cancel := context.WithCancel(context.Background())
	l := &lastUse{notes: make(chan use, 64), stop: cancel, stopped: make(chan struct{}), pending: map[metadata.ID]bool{}}
	go l.run(ctx, meta)
	return l
}

func (l *lastUse) close() {
	l.stop()
	<-l.stopped
}

// note remembers a use at now. It never waits; a note that finds no place is made at the next use.
func (l *lastUse) note(c *caller, now metadata.Stamp) {
	before := c.used.Load()
	if now-metadata.Stamp(before) < lastUseGrain || !c.used.CompareAndSwap(before, int64(now)) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[c.KeyID] {
		return
	}
	select {
	case l.notes <- use{c.UserID, c.KeyID, now}:
		l.pending[c.KeyID] = true
	default:
		c.used.Store(before)
	}
}

func (l *lastUse) run(ctx context.Context, meta metadata.Transactions) {
	defer close(l.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case used := <-l.notes:
			// A failure is no news here: whatever keeps this write from being made, others report.
			_ = meta.UpdateBehind(ctx, func(tx *metadata.Tx) error {
				k, err := tx.Keys.Get(used.user, used.key)
				if err != nil {
					return err
				}
				k.LastUsed = max(k.LastUsed, used.at)
				return tx.Keys.Put(k)
			})
			l.mu.Lock()
			delete(l.pending, used.key)
			l.mu.Unlock()
		}
	}
}
