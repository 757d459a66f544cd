package repository

import (
	"context"
	"errors"
	"sync"
	"time"

	"labshelf/audit"
	"labshelf/auth"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// Authenticate returns the user to whom a key belongs. No key, an unknown, an expired and a revoked one give the same refusal;
// only that of an unknown one has the cause ErrUnknownKey.
func (s *Service) Authenticate(ctx context.Context, key string) (p auth.Principal, err error) {
	if key == "" {
		return p, unauthenticated()
	}
	digest, now := auth.DigestKey(key), s.now()
	c, ok := cached(s.facts.at(s.stores.Meta.AccessVersion()), callersOf, digest)
	if !ok {
		if c, err = s.readCaller(ctx, digest); err != nil {
			return p, err
		}
	}
	if expired(c.Principal, now) {
		return p, unauthenticated()
	}
	s.lastUse.observe(c, now)
	return c.Principal, nil
}

// readCaller returns the caller that the key with this digest stands for, from the tables.
func (s *Service) readCaller(ctx context.Context, digest auth.KeyDigest) (c *caller, err error) {
	err = s.stores.Meta.View(ctx, func(tx *metadata.Tx) error {
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
		cache(s.facts.at(c.AsOf), callersOf, digest, c, 1)
		return nil
	})
	return c, refusedCaller(err)
}

// readHolder returns the caller that a key stands for; ErrNotFound where it has been revoked or its user deleted.
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
		u, err := lookupUser(tx, myself(p, user), "")
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
			return conflict(errs.CodeUserDeleted, "", "this user is deleted; restore the user first")
		}
		key = auth.NewKey()
		created, err = storeKey(tx, p, k, key)
		return err
	})
	return created, key, err
}

// putKey stores a new key that an operator makes.
func putKey(tx *metadata.Tx, k metadata.Key, key string) error {
	_, err := storeKey(tx, auth.Principal{}, k, key)
	return err
}

// storeKey completes the record of a new key and stores it, without the key itself.
func storeKey(tx *metadata.Tx, by auth.Principal, k metadata.Key, key string) (metadata.Key, error) {
	k.Created = tx.Stamp()
	k.ID, k.Digest, k.Prefix = metadata.NewID(k.Created), auth.DigestKey(key), auth.ShownPrefix(key)
	return k, rows.SaveKey(tx, rows.Change{By: by, Action: audit.KeyCreate}, k.Created, k)
}

// RevokeKey ends a key for good.
func (s *Service) RevokeKey(ctx context.Context, p auth.Principal, user, id string) error {
	return s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		u, err := lookupUser(tx, myself(p, user), "")
		if err != nil {
			return err
		}
		k, err := byID(func(id metadata.ID) (metadata.Key, error) { return tx.Keys.Get(u.ID, id) }, id)
		if k, err = orNotFound(k, err, errs.CodeKeyNotFound, "key of this user", ""); err != nil {
			return err
		}
		if err := oneself(p, u.ID); err != nil || k.Gone != 0 {
			return err
		}
		k.Gone = tx.Stamp()
		return rows.SaveKey(tx, rows.Change{By: p, Action: audit.KeyRevoke}, k.Gone, k)
	})
}

// lastUse writes down when keys were last used, at most once a minute each, without delaying requests.
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

// observe remembers a use at now. It never waits; a note that finds no place is made at the next use.
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
			if err != nil {
				return err
			}
			k.LastUsed = max(k.LastUsed, used.at)
			return tx.Keys.Put(k)
		})
	}
	return background.Idle()
}
