// Package repository holds the rules, the permission checks and the use cases of a repository:
// dataspaces hold sets, sets hold resources, users have roles in dataspaces. Gateways (package
// handlers) call the use cases; storage (packages bolt and blobs) is behind small contracts.
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
// Who may do what is decided by rows that rarely change: users, keys, sessions, privileges,
// dataspaces, sets, cascades. Their state has a version (metadata.Versioned). What was read at one
// version is cached, bounded, and used in transactions of that version alone: the common request
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
// stamp of that deletion. Whoever writes to an object whose batch is due applies its change first,
// in the same transaction. A listing shows an object as it was until its batch.
package repository

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"labshelf/auth"
	"labshelf/auth/admission"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/events"
	"labshelf/repository/hooks"
	"labshelf/repository/indexing"
	"labshelf/repository/inline"
	"labshelf/repository/instruments"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/refusals"
	"labshelf/repository/internal/storage"
	"labshelf/repository/maintenance"
	"labshelf/repository/resumable"
	"labshelf/repository/webhooks"
)

// uploadAge is how long a resumable upload may pause where nobody says otherwise.
const uploadAge = 7 * 24 * time.Hour

// Config is what an operator decides about the rules.
type Config struct {
	Anonymous             bool          // what is open is read without a key
	AdminsInvite          bool          // admins may invite people into their dataspaces; else only sysadmins invite
	UsersCreateDataspaces bool          // any registered user may create a dataspace; else only sysadmins
	MaxUpload             int64         // bytes of one file; 0: no limit
	DataspaceQuota        int64         // bytes, of new dataspaces; 0: none
	UserQuota             int64         // bytes, of new users; 0: none
	HoldUpTo              int64         // bytes of the longest file that is committed with its record, and becomes a file afterwards; 0: none
	SessionAge            time.Duration // of a session, at most; 0: 30 days
	LinkAge               time.Duration // in which a link ends at the latest; 0: none has to end
	UploadAge             time.Duration // for which a file that comes in chunks may pause, and what became of it is remembered; 0: 7 days
	ArchiveRoom           int64         // files of all archives that are under way together; 0: 1,048,576
	PageSize              int           // of a listing of sets, resources or keys, unless the request names a limit
	DirectoryPageSize     int           // of a listing of dataspaces, users or privileges

	ScrubPeriod time.Duration // in which every file is read once in the background, to find damage; 0: never
	TrashGrace  time.Duration // how long a purge keeps removed files, unless the request says

	Webhooks hooks.Sender // sends the messages of webhooks; nil: none may be sent

	Instruments instruments.Reader // reads headers and sidecars of files, where sets ask for that; nil: no properties are filled

	IndexDir string // folder of the index of the search, which may be deleted while no service runs; "": there is no search

	// Room returns how much space the file system of the files has left, so that a file which
	// cannot fit is refused before it comes. nil, or an error: that is not known.
	Room func() (blobs.FreeSpace, error)

	Node    string // name of this process among those that share the metadata; "": the name of the machine
	Version string // of the program

	Now func() time.Time // the clock for the expiry of keys; nil: the system's

	// Note hears of what goes wrong in the background: when a task begins to fail, when it works
	// again (a nil error), and of each file found damaged or missing. It is called from several
	// goroutines and must not call the Service. nil: none.
	Note func(task string, err error)

	Observer Observer
}

// completed is the configuration with what it leaves out.
func (c Config) completed() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.SessionAge = cmp.Or(c.SessionAge, sessionAge)
	c.ArchiveRoom = cmp.Or(c.ArchiveRoom, archiveRoom)
	c.UploadAge = cmp.Or(c.UploadAge, uploadAge)
	if c.Webhooks == nil {
		c.Webhooks = webhooks.NewSender(webhooks.Config{})
	}
	return c
}

// Service is the repository. It is safe for concurrent use.
type Service struct {
	Uploads *resumable.Uploads // files that come in chunks
	Events  *events.Streams    // what happens, while it happens

	stores   *storage.Stores
	files    blobs.Writer
	tokens   *paging.Codec
	facts    factCache
	config   Config
	inline   *inline.Bodies
	cascades *cascadeWorker
	lastUse  *lastUse
	refusals *refusals.Counter
	upkeep   *maintenance.Upkeep
	hooks    *hooks.Hooks
	sender   hooks.Sender
	indexing *indexing.Indexing
	schemas  *conformance.Schemas
	quotas   *quota.Ledger

	unfinished  unfinished // uploads of links
	instruments *instruments.Instruments

	passwords *passwords // of links
	downloads downloads
	checksums *admission.Queue // of requests that compute some, one at a time

	folderLocks folderLocks

	archived atomic.Int64 // files of the archives that are under way
}

// inlineLimit returns how many bytes a body has at most that is inline, and whether it stays so for
// good.
func inlineLimit(files blobs.Store, config Config) (limit int64, keep bool) {
	limit = config.HoldUpTo
	if config.MaxUpload > 0 {
		limit = min(limit, config.MaxUpload)
	}
	if _, keep = files.(blobs.Objects); keep {
		limit = min(limit, keptInline)
	}
	return limit, keep
}

// keptInline is how many bytes a body has at most that stays with its record for good, where files
// are objects.
const keptInline = 16 << 10

// New opens the repository over its stores and goes on with the deletions and restorations that
// were under way. The caller closes the Service, then the stores.
func New(meta metadata.Store, files blobs.Store, config Config) *Service {
	config = config.completed()
	var started atomic.Pointer[Service]
	after := func(moved func(*Service)) func() {
		return func() {
			if s := started.Load(); s != nil {
				moved(s)
			}
		}
	}
	s := storage.New(storage.Growing(meta, after((*Service).grown)), files, config.Note)
	s.Node = nodes.Start(meta, nodes.Config{
		Name: config.Node, Version: config.Version, Moved: after((*Service).moved),
		Failed: func(err error) { s.Background.Report(background.TaskNodes, err) },
	})
	meta = s.Meta
	upkeep := maintenance.Start(s, maintenance.Config{
		ScrubPeriod: config.ScrubPeriod, TrashGrace: config.TrashGrace, Now: config.Now, Purged: config.Observer.Purged, Scrubbed: config.Observer.Scrubbed,
	})
	limit, keep := inlineLimit(files, config)
	service := &Service{
		stores: s, files: files, config: config, sender: config.Webhooks,
		tokens:    paging.NewCodec(meta.Secret()),
		facts:     factCache{room: maxFacts},
		inline:    inline.Start(s, files, inline.Config{Limit: limit, Keep: keep, Flushed: config.Observer.Flushed}),
		cascades:  startCascades(meta, s.Background),
		lastUse:   startLastUse(meta),
		refusals:  refusals.Start(s),
		upkeep:    upkeep,
		schemas:   conformance.NewSchemas(),
		quotas:    quota.NewLedger(s.View, s.Node.Shared()),
		passwords: newPasswords(),
		checksums: admission.NewQueue(admission.Limits{Slots: 1, PerCaller: maxQueued}),
	}
	s.Background.Report(background.TaskOpen, errors.Join(meta.Health().Suspect, service.restoreReservations(service.unfinished.add)))
	service.hooks = hooks.Start(s, config.Webhooks, config.Now)
	service.Events = events.New(eventRules{service})
	service.indexing = indexing.Start(s, service.schemas, config.IndexDir)
	service.instruments = instruments.Start(s, filling{service}, config.Instruments)
	service.Uploads = resumable.Start(s, files, uploads{service}, resumable.Config{Age: config.UploadAge, Now: config.Now, Abandoned: service.isAbandoned})
	started.Store(service) // which is complete
	service.moved()        // or what was logged in between would wait for the next change
	return service
}

// grown is called when a commit of this process has added to the audit log.
func (s *Service) grown() {
	s.hooks.Grown()
	s.Events.Grown()
	s.indexing.Grown()
	s.instruments.Grown()
}

// moved is called when a commit of any process has: it may have changed whatever something waits
// for.
func (s *Service) moved() {
	s.grown()
	s.hooks.Changed()
	s.inline.Wake()
	s.cascades.worker.Wake()
	s.Uploads.Tidy() // a link may have ended
}

// Close stops what runs in the background. What is left of a deletion or restoration goes on at the
// next start, and so do the scrub and the flushing of inline bodies.
func (s *Service) Close() {
	s.Events.Close()
	s.hooks.Close()
	s.indexing.Close()
	s.instruments.Close()
	s.Uploads.Close()
	s.inline.Close()
	s.cascades.worker.Close()
	s.lastUse.worker.Close()
	s.refusals.Close()
	s.upkeep.Close()
	s.stores.Node.Close()
}

// NoteRefusal counts a request that was refused for want of a valid key or of permission; of any
// other kind it takes no note.
func (s *Service) NoteRefusal(kind errs.Kind) { s.refusals.Note(kind) }

// now returns the time of the clock.
func (s *Service) now() metadata.Stamp { return metadata.Stamp(s.config.Now().UnixMicro()) }

// view runs fn in a read transaction with the caller as it is now.
func (s *Service) view(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.stores.View(ctx, s.asCaller(p, fn))
}

// viewDurable is view for what no power cut may take back once it has been shown.
func (s *Service) viewDurable(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	s.inline.Reading()
	return storage.Error(s.stores.Meta.ViewDurable(ctx, s.asCaller(p, fn)))
}

// update runs fn in a write transaction with the caller as it is now.
func (s *Service) update(ctx context.Context, p auth.Principal, fn func(tx *metadata.Tx, p auth.Principal) error) error {
	return s.stores.Update(ctx, s.asCaller(p, fn))
}

// asCaller reads the caller, its key and its session again inside the transaction: a long upload
// must not end with rights lost meanwhile. Where the rows are still those that the caller was read
// from, it need not read them. What one transaction says is not kept for another attempt, in which
// it may never have been so.
func (s *Service) asCaller(came auth.Principal, fn func(*metadata.Tx, auth.Principal) error) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		if came.Anonymous {
			return unauthenticated()
		}
		p, version := came, tx.Access()
		tx.Facts = s.facts.at(version)
		if p.AsOf != 0 && p.AsOf == version {
			if expired(p, s.now()) {
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

// Observer hears of what the service does besides answering requests, for measuring. Its functions
// are called from several goroutines, must return soon, and must not call the Service. Those that
// are nil hear nothing.
type Observer struct {
	// Purged hears of a purge that was more than a dry run: what it removed, how long it took, and
	// why it ended early.
	Purged func(removed maintenance.PurgeResult, took time.Duration, err error)
	// Scrubbed hears of a blob that was read in the background to see whether it is complete.
	Scrubbed func(bytes int64, damaged bool)
	// Flushed hears of a batch of inline bodies that have become files, how long that took, and why
	// it failed.
	Flushed func(moved metadata.BodyCount, took time.Duration, err error)
}
