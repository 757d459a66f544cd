// Package core is the lowest layer of the repository: the caller, permissions, lookup, listings,
// cascades, and how records are read and saved. The other layers build on it. Gateways use only its
// types of requests and responses.
//
// # Use cases
//
// A use case checks in a fixed order, in one transaction: lookup (NotFound), authorisation
// (Forbidden), validation (Invalid), then states and conflicts (Conflict, Gone, Precondition). It
// finds every reason to refuse before its first write, since several operations may share a commit.
// It reads its caller again inside the transaction that writes, so that an hour-long upload cannot
// finish with rights that were revoked in the meantime.
//
// # Permissions
//
// Rows that rarely change decide about permissions: users, keys, sessions, privileges, dataspaces,
// sets and cascades. Their state has a version (metadata.Versioned). A bounded cache keeps the rows
// read at one version, and only transactions of that version use them. A typical request therefore
// reads neither key nor role from the database, but a revoked key or role is refused from the next
// request on.
//
// Browsers use sessions. A session is a row that names a key, under the digest of a token that only
// the cookie holds. Session and key are verified like a key, also in the middle of an upload. A
// token names its user, so the sessions of one user are adjacent: signing in removes ended
// sessions, and the oldest ones beyond 32.
//
// # Cascades
//
// Deleting a dataspace or a set changes the container in one commit and adds a row to the table of
// cascades. From then on, nothing can be created inside, and its objects read as deleted. The
// objects follow in batches of 5 ms or 200 objects. Each batch is an UpdateBackground that yields
// to other writers. Each object gets its own stamp, so that a harvester receives every deletion.
// The last batch removes the row; after a crash, the rest follows at the next start. Restoring
// works the same way. It finds exactly the objects that the deletion took along, because each
// record keeps the stamp of that deletion. A write to an object whose batch is due first applies
// the change of the batch, in the same transaction. Listings show an object's former state until
// its batch.
package core

import (
	"cmp"
	"context"
	"errors"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/inline"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/storage"
)

// Config holds the operator's settings for callers and listings.
type Config struct {
	Anonymous         bool             // open dataspaces can be read without a key
	SessionAge        time.Duration    // maximum age of a session; 0 means 30 days
	PageSize          int              // default page size of sets, resources and keys
	DirectoryPageSize int              // default page size of dataspaces, users and privileges
	Now               func() time.Time // the clock for the expiry of keys
}

// Core holds what all layers share. It is safe for concurrent use.
type Core struct {
	Stores   *storage.Stores
	Files    blobs.Writer
	Inline   *inline.Bodies
	Quotas   *quota.Ledger
	Cascades *Cascades

	tokens *paging.Codec
	facts  factCache
	config Config
}

// Start returns the core of a repository, and resumes unfinished deletions and restorations. The
// caller must close the Core, then bodies, then the stores.
func Start(stores *storage.Stores, files blobs.Writer, bodies *inline.Bodies, config Config) *Core {
	config.SessionAge = cmp.Or(config.SessionAge, sessionAge)
	return &Core{
		Stores: stores, Files: files, Inline: bodies, config: config,
		Quotas:   quota.NewLedger(stores.View, stores.Node.Shared()),
		Cascades: startCascades(stores.Meta, stores.Background),
		tokens:   paging.NewCodec(stores.Meta.Secret()),
		facts:    factCache{room: maxFacts},
	}
}

// Close stops the background work. Unfinished deletions and restorations resume at the next start.
func (s *Core) Close() { s.Cascades.worker.Close() }

// Moved must be called when a commit of any process may have changed something that a task waits
// for.
func (s *Core) Moved() {
	s.Inline.Wake()
	s.Cascades.worker.Wake()
}

// CacheAtMost limits the number of cached rows.
func (s *Core) CacheAtMost(rows int) { s.facts.room = rows }

// Cached returns the number of cached keys.
func (s *Core) Cached(ctx context.Context) (int, error) {
	version, err := s.Stores.Meta.AccessVersion(ctx)
	if err != nil {
		return 0, err
	}
	f := s.facts.at(version)
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.callers), nil
}

// Now returns the present time.
func (s *Core) Now() metadata.Stamp { return metadata.Stamp(s.config.Now().UnixMicro()) }

// View runs fn in a read transaction, with the present state of the caller.
func (s *Core) View(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.Stores.View(ctx, s.AsCaller(p, fn))
}

// ViewDurable is like View, but fn sees only data on stable storage, which a power failure cannot
// undo.
func (s *Core) ViewDurable(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	s.Inline.Reading()
	return storage.Error(s.Stores.Meta.ViewDurable(ctx, s.AsCaller(p, fn)))
}

// Update runs fn in a write transaction, with the present state of the caller.
func (s *Core) Update(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.Stores.Update(ctx, s.AsCaller(p, fn))
}

// AsCaller wraps fn so that it reads the caller, its key and its session again inside the
// transaction, because a long upload must not finish with rights lost in the meantime. If these
// rows have not changed since they were read, AsCaller does not read them again. A retry reuses
// nothing that an earlier attempt read.
func (s *Core) AsCaller(came auth.Principal, fn func(*metadata.Tx, auth.Principal) error) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		if came.Anonymous {
			return unauthenticated()
		}
		p, version := came, tx.Access()
		tx.Facts = s.facts.at(version)
		if p.AsOf != 0 && p.AsOf == version { // limits, too, are those of this version
			if expired(p, s.Now()) {
				return unauthenticated()
			}
			return fn(tx, p)
		}
		if p.Presumed {
			return ErrPresumed
		}
		user, err := tx.Users.Get(p.UserID)
		if err == nil && user.State != metadata.Active {
			err = metadata.ErrNotFound
		}
		if err == nil && p.KeyID != (metadata.ID{}) {
			var key metadata.Key
			if key, err = tx.Keys.Get(p.UserID, p.KeyID); err == nil && key.StateAt(s.Now()) != metadata.KeyActive {
				err = metadata.ErrNotFound
			}
			if p.Limits = key.Limits; err == nil && p.Address.IsValid() && !p.Limits.Networks.Contain(p.Address) {
				return elsewhere()
			}
		}
		if err == nil && p.Session != (auth.SessionDigest{}) {
			var session metadata.Session
			if session, err = tx.Sessions.Get(metadata.SessionKey{User: p.UserID, Digest: p.Session}); err == nil && session.Expires <= s.Now() {
				err = metadata.ErrNotFound
			}
		}
		switch {
		case errors.Is(err, metadata.ErrNotFound):
			return unauthenticated()
		case err != nil:
			return err
		}
		p = p.WithRights(user.Sysadmin)
		return fn(tx, p)
	}
}
