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

// Service is the repository. It is safe for concurrent use.
type Service struct {
	Credentials *core.Credentials

	Descriptions *describe.Descriptions
	Schemas      *describe.Schemas
	BulkEdits    *describe.BulkEdits

	Dataspaces *containers.Dataspaces
	Sets       *containers.Sets
	Users      *containers.Users

	Files    *files.Files
	Uploads  *files.Uploads
	Versions *files.Versions

	Folders *folders.Folders
	Drive   *folders.Drive

	Links    *links.Links
	Visitors *links.Visitors

	AuditLog *watch.AuditLog
	Events   *events.Streams // what happens, while it happens
	Webhooks *watch.Webhooks
	Search   *watch.Index

	Monitor *maintenance.Monitor

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
	s.Credentials = core.StartCredentials(s.core)
	s.compose(store, config)
	started.Store(s) // which is complete
	s.moved()        // or what was logged in between would wait for the next change
	return s
}

// compose makes the rooms above the core, from the lowest to the highest.
func (s *Service) compose(store blobs.Store, config Config) {
	conformance := conformance.NewSchemas()
	s.Webhooks = watch.StartWebhooks(s.core, config.Webhooks, config.Now)
	s.Events = watch.NewEvents(s.core)
	s.Search = watch.StartIndex(s.core, conformance, config.IndexDir)
	s.AuditLog = watch.NewAuditLog(s.core)
	s.Monitor = maintenance.NewMonitor(s.core, s.upkeep, maintenance.MonitorConfig{Node: config.Node, TrashGrace: config.TrashGrace, Room: config.Room})

	s.Descriptions = describe.Start(s.core, conformance, config.Instruments)
	s.Schemas = describe.NewSchemas(s.core, conformance)
	s.BulkEdits = describe.NewBulkEdits(s.core, s.Descriptions)

	ofContainers := containers.Config{UsersCreateDataspaces: config.UsersCreateDataspaces, DataspaceQuota: config.DataspaceQuota, UserQuota: config.UserQuota}
	s.Dataspaces = containers.NewDataspaces(s.core, ofContainers)
	s.Sets = containers.NewSets(s.core, s.Descriptions)
	s.Users = containers.NewUsers(s.core, ofContainers, s.ended)

	ofFiles := files.Config{MaxUpload: config.MaxUpload, ArchiveRoom: config.ArchiveRoom, Room: config.Room}
	s.Files = files.New(s.core, s.Descriptions, ofFiles)
	s.Versions = files.NewVersions(s.core, s.Files, s.upkeep)
	s.Uploads = files.NewUploads(s.core, s.Descriptions, ofFiles)

	s.Folders = folders.New(s.core, s.Files)
	s.Drive = folders.NewDrive(s.core, s.Files, s.Folders)

	s.Links = links.New(s.core, s.Users, s.Uploads, links.Config{AdminsInvite: config.AdminsInvite, LinkAge: config.LinkAge})
	s.Visitors = links.NewVisitors(s.Links, s.Credentials, s.Files)

	err := s.Uploads.Start(store, files.ChunksConfig{
		Age: config.UploadAge, Now: config.Now, Ended: s.Visitors.LinkEnded, Restored: s.Links.RestoreUpload,
	})
	s.core.Stores.Background.Report(background.TaskOpen, errors.Join(s.core.Stores.Meta.Health().Suspect, err))
}

// grown is called when a commit of this process has added to the audit log.
func (s *Service) grown() {
	s.Webhooks.Grown()
	s.Events.Grown()
	s.Search.Grown()
	s.Descriptions.Grown()
}

// moved is called when a commit of any process has: it may have changed whatever something waits
// for.
func (s *Service) moved() {
	s.grown()
	s.Webhooks.Changed()
	s.core.Moved()
	s.Uploads.Chunks.Tidy() // a link may have ended
}

// ended is called when what lets others in may have ended: webhooks and the uploads of links look
// at once.
func (s *Service) ended() {
	s.Webhooks.Changed()
	s.Uploads.Chunks.Tidy()
}

// Close stops what runs in the background. What is left of a deletion or restoration goes on at the
// next start, and so do the scrub and the flushing of inline bodies.
func (s *Service) Close() {
	s.Events.Close()
	s.Webhooks.Close()
	s.Search.Close()
	s.Descriptions.Close()
	s.Uploads.Chunks.Close()
	s.core.Inline.Close()
	s.core.Close()
	s.Credentials.Close()
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
