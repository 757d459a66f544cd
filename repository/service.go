// Package repository composes the use cases of a repository: dataspaces hold sets, sets hold
// resources, users have roles in dataspaces. Gateways (package handlers) call the use cases;
// storage (packages bolt and blobs) is behind small contracts.
//
// The use cases are in rooms, packages whose imports only go down: core, describe, containers,
// files, folders, links. watch and maintenance stand on core.
package repository

import (
	"cmp"
	"errors"
	"sync/atomic"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/events"
	"labshelf/repository/files"
	"labshelf/repository/folders"
	"labshelf/repository/hooks"
	"labshelf/repository/inline"
	"labshelf/repository/instruments"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/conformance"
	"labshelf/repository/internal/nodes"
	"labshelf/repository/internal/storage"
	"labshelf/repository/links"
	"labshelf/repository/maintenance"
	"labshelf/repository/resumable"
	"labshelf/repository/watch"
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
	c.UploadAge = cmp.Or(c.UploadAge, uploadAge)
	if c.Webhooks == nil {
		c.Webhooks = webhooks.NewSender(webhooks.Config{})
	}
	return c
}

// The rooms, by names under which Service has what they export.
type (
	credentials  = core.Credentials
	descriptions = describe.Descriptions
	schemas      = describe.Schemas
	bulkEdits    = describe.BulkEdits
	dataspaces   = containers.Dataspaces
	sets         = containers.Sets
	users        = containers.Users
	resources    = files.Files
	uploads      = files.Uploads
	versions     = files.Versions
	tree         = folders.Folders
	drive        = folders.Drive
	managed      = links.Links
	visitors     = links.Visitors
	auditLog     = watch.AuditLog
	subscribers  = watch.Webhooks
	index        = watch.Index
	monitor      = maintenance.Monitor
)

// Service is the repository. It is safe for concurrent use.
type Service struct {
	Uploads *resumable.Uploads // files that come in chunks
	Events  *events.Streams    // what happens, while it happens

	*credentials
	*descriptions
	*schemas
	*bulkEdits
	*dataspaces
	*sets
	*users
	*resources
	*uploads
	*versions
	*tree
	*drive
	*managed
	*visitors
	*auditLog
	*subscribers
	*index
	*monitor

	core   *core.Core
	upkeep *maintenance.Upkeep
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
func New(meta metadata.Store, store blobs.Store, config Config) *Service {
	config = config.completed()
	var started atomic.Pointer[Service]
	after := func(moved func(*Service)) func() {
		return func() {
			if s := started.Load(); s != nil {
				moved(s)
			}
		}
	}
	stores := storage.New(storage.Growing(meta, after((*Service).grown)), store, config.Note)
	stores.Node = nodes.Start(meta, nodes.Config{
		Name: config.Node, Version: config.Version, Moved: after((*Service).moved),
		Failed: func(err error) { stores.Background.Report(background.TaskNodes, err) },
	})
	s := &Service{upkeep: maintenance.Start(stores, maintenance.Config{
		ScrubPeriod: config.ScrubPeriod, TrashGrace: config.TrashGrace, Now: config.Now, Purged: config.Observer.Purged, Scrubbed: config.Observer.Scrubbed,
	})}
	limit, keep := inlineLimit(store, config)
	bodies := inline.Start(stores, store, inline.Config{Limit: limit, Keep: keep, Flushed: config.Observer.Flushed})
	s.core = core.Start(stores, store, bodies, core.Config{
		Anonymous: config.Anonymous, SessionAge: config.SessionAge, PageSize: config.PageSize, DirectoryPageSize: config.DirectoryPageSize, Now: config.Now,
	})
	s.credentials = core.StartCredentials(s.core)
	s.compose(store, config)
	started.Store(s) // which is complete
	s.moved()        // or what was logged in between would wait for the next change
	return s
}

// compose makes the rooms above the core, from the lowest to the highest.
func (s *Service) compose(store blobs.Store, config Config) {
	conformance := conformance.NewSchemas()
	s.subscribers = watch.StartWebhooks(s.core, config.Webhooks, config.Now)
	s.Events = watch.NewEvents(s.core)
	s.index = watch.StartIndex(s.core, conformance, config.IndexDir)
	s.auditLog = watch.NewAuditLog(s.core)
	s.monitor = maintenance.NewMonitor(s.core, s.upkeep, maintenance.MonitorConfig{Node: config.Node, TrashGrace: config.TrashGrace, Room: config.Room})

	s.descriptions = describe.Start(s.core, conformance, config.Instruments)
	s.schemas = describe.NewSchemas(s.core, conformance)
	s.bulkEdits = describe.NewBulkEdits(s.core, s.descriptions)

	ofContainers := containers.Config{UsersCreateDataspaces: config.UsersCreateDataspaces, DataspaceQuota: config.DataspaceQuota, UserQuota: config.UserQuota}
	s.dataspaces = containers.NewDataspaces(s.core, ofContainers)
	s.sets = containers.NewSets(s.core, s.descriptions)
	s.users = containers.NewUsers(s.core, ofContainers, s.ended)

	ofFiles := files.Config{MaxUpload: config.MaxUpload, ArchiveRoom: config.ArchiveRoom, Room: config.Room}
	s.resources = files.New(s.core, s.descriptions, ofFiles)
	s.versions = files.NewVersions(s.core, s.resources, s.upkeep)
	s.uploads = files.NewUploads(s.core, s.descriptions, ofFiles)

	s.tree = folders.New(s.core, s.resources)
	s.drive = folders.NewDrive(s.core, s.resources, s.tree)

	s.managed = links.New(s.core, s.users, s.uploads, links.Config{AdminsInvite: config.AdminsInvite, LinkAge: config.LinkAge})
	s.visitors = links.NewVisitors(s.managed, s.credentials, s.resources)

	err := s.uploads.Start(store, files.ChunksConfig{
		Age: config.UploadAge, Now: config.Now, Ended: s.visitors.LinkEnded, Restored: s.managed.RestoreUpload,
	})
	s.Uploads = s.uploads.Chunks
	s.core.Stores.Background.Report(background.TaskOpen, errors.Join(s.core.Stores.Meta.Health().Suspect, err))
}

// grown is called when a commit of this process has added to the audit log.
func (s *Service) grown() {
	s.subscribers.Grown()
	s.Events.Grown()
	s.index.Grown()
	s.descriptions.Grown()
}

// moved is called when a commit of any process has: it may have changed whatever something waits
// for.
func (s *Service) moved() {
	s.grown()
	s.subscribers.Changed()
	s.core.Moved()
	s.Uploads.Tidy() // a link may have ended
}

// ended is called when what lets others in may have ended: webhooks and the uploads of links look
// at once.
func (s *Service) ended() {
	s.subscribers.Changed()
	s.Uploads.Tidy()
}

// Close stops what runs in the background. What is left of a deletion or restoration goes on at the
// next start, and so do the scrub and the flushing of inline bodies.
func (s *Service) Close() {
	s.Events.Close()
	s.subscribers.Close()
	s.index.Close()
	s.descriptions.Close()
	s.Uploads.Close()
	s.core.Inline.Close()
	s.core.Close()
	s.credentials.Close()
	s.upkeep.Close()
	s.core.Stores.Node.Close()
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
