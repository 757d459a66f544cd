// Package repository is the domain: dataspaces hold sets, sets hold resources, users have roles in dataspaces. Every rule
// and every permission check is here, once; gateways (package handlers) call its use cases, storage (packages bolt and
// blobs) is behind small contracts.
//
// A use case checks in one order: find (NotFound), authorise (Forbidden), validate (Invalid), then state and conflicts
// (Conflict, Gone, Precondition).
package repository

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
)

// Config is what an operator decides about the rules.
type Config struct {
	UsersCreateDataspaces bool          // any registered user may create a dataspace; else only sysadmins
	MaxUpload             int64         // bytes of one file; 0: no limit
	HoldUpTo              int64         // bytes of the longest file that is committed with its record, and becomes a file afterwards; 0: none
	SessionAge            time.Duration // of a session, at most; 0: 30 days
	UploadAge             time.Duration // for which a file that comes in parts may pause, and what became of it is remembered; 0: 7 days
	ArchiveRoom           int64         // files of all archives that are under way together; 0: 1,048,576
	PageSize              int           // of a listing of sets, resources or keys, unless the request names a limit
	DirectoryPageSize     int           // of a listing of dataspaces, users or privileges

	ScrubPeriod time.Duration // in which every file is read once in the background, to find damage; 0: never
	TrashGrace  time.Duration // how long a purge keeps removed files, unless the request says

	// Room tells how much room the file system of the files has left, so that a file which cannot fit is refused before it comes. nil, or an
	// error: that is not known.
	Room func() (blobs.Room, error)

	Now func() time.Time // the clock for the expiry of keys; nil: the system's

	// Note hears of what goes wrong in the background: when a task begins to fail, when it works again (a nil error), and of each
	// file found damaged or missing. It is called from several goroutines and must not call the Service. nil: nobody hears.
	Note func(task string, err error)

	Watch Watch
}

// Service is the repository. It is safe for concurrent use.
type Service struct {
	*stores
	tokens    *paging.Codec
	facts     memory
	config    Config
	hold      *holder
	mover     *mover
	steps     *stepper
	seen      *lastUse
	scrub     *scrubber
	turns     *turns
	sweep     *sweeper
	survey    *surveyor
	watermark *watermarker

	archived atomic.Int64 // files of the archives that are under way
}

// New opens the repository over its stores and goes on with the deletions and restorations that were under way. The caller
// closes the Service, then the stores.
func New(meta metadata.Store, files blobs.Store, config Config) *Service {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.SessionAge == 0 {
		config.SessionAge = sessionAge
	}
	if config.ArchiveRoom == 0 {
		config.ArchiveRoom = archiveRoom
	}
	if config.UploadAge == 0 {
		config.UploadAge = uploadAge
	}
	s := newStores(meta, files, config.Note)
	s.watch = config.Watch
	s.troubles.tell(taskOpen, meta.Health().Suspect)
	watermark := startWatermarker(s, config.Now) // before anything can change
	hold, turns := newHolder(config), newTurns()
	return &Service{
		stores: s, config: config, hold: hold,
		tokens:    paging.NewCodec(meta.Secret()),
		facts:     memory{room: maxFacts},
		mover:     startMover(s, hold),
		steps:     startStepper(meta, &s.troubles),
		seen:      startLastUse(meta),
		scrub:     startScrubber(s, config.ScrubPeriod),
		turns:     turns,
		sweep:     startSweeper(s, turns, config.Now),
		survey:    startSurveyor(s, config.Now),
		watermark: watermark,
	}
}

// Close stops what runs in the background. What is left of a deletion or restoration goes on at the next start, and so do the
// reading of all files and the moving of small ones.
func (s *Service) Close() {
	s.survey.close()
	s.sweep.close()
	s.mover.close()
	s.scrub.close()
	s.steps.close()
	s.seen.close()
	s.watermark.close()
}

func (s *Service) now() metadata.Stamp { return metadata.Stamp(s.config.Now().UnixMicro()) }

// view runs fn in a read transaction with the caller as he is now.
func (s *Service) view(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.read(ctx, s.asCaller(p, fn))
}

// viewDurable is view for what no power cut may take back once it has been told.
func (s *Service) viewDurable(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return storageError(s.meta.ViewDurable(ctx, s.asCaller(p, fn)))
}

// update runs fn in a write transaction with the caller as he is now.
func (s *Service) update(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.write(ctx, s.asCaller(p, fn))
}

// asCaller looks at the caller, his key and his session again inside the transaction: a long upload must not end with rights lost meanwhile.
// Where the rows are still those of which he was made, it need not read them. What one transaction says of him is not kept for another
// attempt, in which it may never have been so.
func (s *Service) asCaller(came auth.Principal, fn func(*metadata.Tx, auth.Principal) error) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		p, version := came, tx.Access()
		tx.Facts = s.facts.at(version)
		if p.AsOf != 0 && p.AsOf == version {
			if expired(p, s.now()) {
				return unauthenticated()
			}
			return fn(tx, p)
		}
		user, err := tx.Users.Get(p.UserID)
		if err == nil && user.State != metadata.Active {
			err = metadata.ErrNotFound
		}
		if err == nil && p.KeyID != (metadata.ID{}) {
			var key metadata.Key
			if key, err = tx.Keys.Get(p.UserID, p.KeyID); err == nil && key.StateAt(s.now()) != metadata.KeyActive {
				err = metadata.ErrNotFound
			}
		}
		if err == nil && p.Session != (auth.SessionDigest{}) {
			var session metadata.Session
			if session, err = tx.Sessions.Get(p.UserID, p.Session); err == nil && session.Expires <= s.now() {
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
