// Package repository composes the use cases of a repository: dataspaces contain sets, sets contain
// resources, and users have roles in dataspaces. Gateways (package handlers) call the use cases.
// Small interfaces separate them from storage (packages bolt and blobs).
//
// The use cases are in packages that import only lower layers: core, describe, containers, files,
// folders and links. The packages watch and maintenance build on core.
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

// uploadAge is the default maximum pause of a resumable upload.
const uploadAge = 7 * 24 * time.Hour

// Config holds the operator's settings of a repository.
type Config struct {
	Anonymous             bool          // open dataspaces can be read without a key
	AdminsInvite          bool          // admins may invite into their dataspaces
	UsersCreateDataspaces bool          // registered users may create dataspaces; otherwise only sysadmins
	MaxUpload             int64         // maximum bytes of one file; 0 for no limit
	DataspaceQuota        int64         // bytes, for new dataspaces; 0 for none
	UserQuota             int64         // bytes, for new users; 0 for none
	HoldUpTo              int64         // maximum bytes of an inline body; 0 for none
	SessionAge            time.Duration // maximum age of a session; 0 means 30 days
	LinkAge               time.Duration // maximum age of a link; 0 for no limit
	UploadAge             time.Duration // maximum pause of a resumable upload; 0 means 7 days
	ArchiveRoom           int64         // maximum files in all open archives; 0 means 1,048,576
	VerifyReads           int64         // longest file, in bytes, whose SHA-256 is compared when all of it is read; 0 for none
	PageSize              int           // default page size of sets, resources and keys
	DirectoryPageSize     int           // default page size of dataspaces, users and privileges

	ScrubPeriod time.Duration // time in which the scrub reads every file once; 0 disables it
	TrashGrace  time.Duration // how long a purge keeps removed files unless the request overrides it

	Webhooks hooks.Sender // sends the messages of webhooks; nil allows no host

	Instruments instruments.Reader // reads headers and sidecars of files; nil disables this

	IndexDir string // folder of the search index; "" disables search

	// Room returns the free space of the file system for files, so that a file that cannot fit is
	// refused before it arrives. If it is nil or returns an error, the free space is unknown.
	Room func() (blobs.FreeSpace, error)

	Node    string // name of this process among those that share the metadata; "" for the host name
	Version string // of the program

	Now func() time.Time // the clock for the expiry of keys; nil for the system clock

	// Note, if not nil, is called for events in the background: when a task begins to fail, when it
	// works again (with a nil error), and for each file found damaged or missing. It is called from
	// several goroutines and must not call the Service.
	Note func(task string, err error)

	Observer Observer
}

// completed returns the configuration with defaults for missing values.
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
	Events   *events.Streams // of changes, while they happen
	Webhooks *watch.Webhooks
	Search   *watch.Index

	Monitor *maintenance.Monitor

	core   *core.Core
	upkeep *maintenance.Upkeep
}

// inlineLimit returns the maximum number of bytes of an inline body, and whether bodies stay inline
// permanently.
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

// keptInline is the maximum number of bytes of a body that stays inline permanently, if files are
// objects.
const keptInline = 16 << 10

// New opens the repository over its stores, and resumes unfinished deletions and restorations. The
// caller must close the Service, then the stores.
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
	stores.VerifyReads = config.VerifyReads
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
	started.Store(s) // s is complete now
	s.moved()        // otherwise entries logged before Store would wait for the next change
	return s
}

// compose creates the layers above the core, from the lowest to the highest.
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
		Age: config.UploadAge, Now: config.Now, Ended: s.Visitors.Ended, Restored: s.Links.RestoreUpload,
	})
	s.core.Stores.Background.Report(background.TaskOpen, errors.Join(s.core.Stores.Meta.Health().Suspect, err))
}

// grown is called after a commit of this process has added to the audit log.
func (s *Service) grown() {
	s.Webhooks.Grown()
	s.Events.Grown()
	s.Search.Grown()
	s.Descriptions.Grown()
}

// moved is called after a commit of any process has added to the audit log. It may have changed
// anything that a task waits for.
func (s *Service) moved() {
	s.grown()
	s.Webhooks.Changed()
	s.core.Moved()
	s.Uploads.Chunks.Tidy() // a link may have ended
}

// ended is called when a key or a user may have ended, on which webhooks and uploads through links
// depend.
func (s *Service) ended() {
	s.Webhooks.Changed()
	s.Uploads.Chunks.Tidy()
}

// Close stops the background work. Unfinished deletions and restorations, the scrub, and the
// flushing of inline bodies resume at the next start.
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

// Observer holds functions that are called for background events, for metrics. They are called from
// several goroutines, must return soon, and must not call the Service. Each may be nil.
type Observer struct {
	// Purged is called after each purge except dry runs, with the result, the duration, and the
	// error.
	Purged func(removed maintenance.PurgeResult, took time.Duration, err error)
	// Scrubbed is called after each blob that the scrub has read.
	Scrubbed func(bytes int64, damaged bool)
	// Flushed is called after each batch of inline bodies that was flushed to files, with the
	// duration and the error.
	Flushed func(moved metadata.BodyCount, took time.Duration, err error)
}
