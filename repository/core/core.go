// Package core is the lowest room of a repository: the caller, permission, lookup, listings,
// cascades, and how records are read and saved. The rooms above it stand on it; gateways see none
// of it but the types of requests and answers.
//
// # A use case
//
// It checks in one order, in one transaction: lookup (NotFound), authorise (Forbidden), validate
// (Invalid), then states and conflicts (Conflict, Gone, Precondition), and finds every reason to
// refuse before its first write, since several operations may share a commit. It reads its caller
// again inside the transaction that writes, so that an upload of an hour does not end with rights
// that were revoked meanwhile.
//
// # Permission
//
// Rows that rarely change decide about permission: users, keys, sessions, privileges, dataspaces,
// sets, cascades. Their state has a version (metadata.Versioned). Rows that were read at one
// version are cached, bounded, and used in transactions of that version alone: the common request
// looks up neither key nor role in the database, and yet a key or role that was revoked ends with
// the next request.
//
// A session is the way in for browsers: a row that names a key, under the digest of a token that
// only the cookie holds. Session and key are both verified as a key is, also in the middle of an
// upload. A token names its user, so that the sessions of one user lie side by side: signing in
// removes those that have ended, and the oldest beyond 32.
//
// # Cascades
//
// Deleting a dataspace or a set changes the container in one commit and puts a row into the table
// of cascades. From then on nothing can be created inside, and reading one of its objects shows it
// deleted. The objects follow in batches of 5 ms or 200 objects, each an UpdateBackground, each
// object with a stamp of its own: other writers go first, and a harvester receives every deletion.
// The row goes with the last batch; after a crash the rest follows at the next start. Restoring
// works the same way and finds exactly what the deletion took along, since each record keeps the
// stamp of that deletion. A write to an object whose batch is due applies the batch's change first,
// in the same transaction. A listing shows an object as it was until its batch.
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

// Config is what an operator decides about callers and listings.
type Config struct {
	Anonymous         bool             // what is open is read without a key
	SessionAge        time.Duration    // of a session, at most; 0: 30 days
	PageSize          int              // of a listing of sets, resources or keys, unless the request names a limit
	DirectoryPageSize int              // of a listing of dataspaces, users or privileges
	Now               func() time.Time // the clock for the expiry of keys
}

// Core is what all rooms stand on. It is safe for concurrent use.
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

// Start returns the core of a repository over its stores, and goes on with the deletions and
// restorations that were under way. The caller closes the Core, then bodies, then the stores.
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

// Close stops what runs in the background. Deletions and restorations go on at the next start.
func (s *Core) Close() { s.Cascades.worker.Close() }

// Moved is called when a commit of any process may have changed what something waits for.
func (s *Core) Moved() {
	s.Inline.Wake()
	s.Cascades.worker.Wake()
}

// CacheAtMost bounds how many rows are cached of permissions.
func (s *Core) CacheAtMost(rows int) { s.facts.room = rows }

// Cached returns how many keys are cached.
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

// Now returns the time of the clock.
func (s *Core) Now() metadata.Stamp { return metadata.Stamp(s.config.Now().UnixMicro()) }

// View runs fn in a read transaction with the caller as it is now.
func (s *Core) View(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.Stores.View(ctx, s.AsCaller(p, fn))
}

// ViewDurable is view for what no power cut may take back once it has been shown.
func (s *Core) ViewDurable(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	s.Inline.Reading()
	return storage.Error(s.Stores.Meta.ViewDurable(ctx, s.AsCaller(p, fn)))
}

// Update runs fn in a write transaction with the caller as it is now.
func (s *Core) Update(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.Stores.Update(ctx, s.AsCaller(p, fn))
}

// AsCaller reads the caller, its key and its session again inside the transaction: a long upload
// must not end with rights lost meanwhile. If these rows have not changed since the caller was
// read, it does not read them again. A retry reuses nothing that an earlier attempt read.
func (s *Core) AsCaller(came auth.Principal, fn func(*metadata.Tx, auth.Principal) error) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		if came.Anonymous {
			return unauthenticated()
		}
		p, version := came, tx.Access()
		tx.Facts = s.facts.at(version)
		if p.AsOf != 0 && p.AsOf == version {
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
		p.Sysadmin = user.Sysadmin
		return fn(tx, p)
	}
}
