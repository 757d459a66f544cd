package repository

import (
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/folders"
	"labshelf/repository/links"
	"labshelf/repository/maintenance"
	"labshelf/repository/watch"
)

// The words of the rooms.
type (
	Accepted        = links.Accepted
	Archive         = files.Archive
	Attributes      = files.Attributes
	AuditEntry      = core.AuditEntry
	BulkChange      = describe.BulkChange
	BulkOutcome     = describe.BulkOutcome
	BulkProblem     = describe.BulkProblem
	Checksums       = files.Checksums
	Condition       = maintenance.Condition
	ConditionDetail = maintenance.ConditionDetail
	Conformance     = describe.Conformance
	Destination     = files.Destination
	DriveEntry      = folders.DriveEntry
	DriveLock       = folders.DriveLock
	DrivePath       = folders.DrivePath
	DrivePosition   = folders.DrivePosition
	ETags           = core.ETags
	Existing        = folders.Existing
	Fetch           = links.Fetch
	FieldChange     = describe.FieldChange
	FieldNames      = files.FieldNames
	Fields          = core.Fields
	FolderOutcome   = folders.FolderOutcome
	FolderSize      = folders.FolderSize
	FormUpload      = files.Upload
	Found           = watch.Found
	Hit             = watch.Hit
	LinkView        = links.LinkView
	LinkWithUse     = containers.LinkWithUse
	ListRequest     = core.ListRequest
	LockHolder      = folders.LockHolder
	ManyResult      = files.ManyResult
	Match           = core.Match
	PageEnds        = core.PageEnds
	Relocation      = folders.Relocation
	Schema          = describe.Schema
	SchemaVersion   = describe.SchemaVersion
	SentFile        = links.SentFile
	Share           = containers.Share
	Status          = maintenance.Status
	UploadFields    = files.UploadFields
	UploadStart     = files.UploadStart
	UsageSummary    = containers.UsageSummary
	Visitor         = links.Visitor
	Edit[T any]     = core.Edit[T]
	Page[T any]     = core.Page[T]
)

const (
	// FetchHead is links.FetchHead.
	FetchHead = links.FetchHead
	// FetchPart is links.FetchPart.
	FetchPart = links.FetchPart
	// FetchWhole is links.FetchWhole.
	FetchWhole = links.FetchWhole
	// Free is folders.Free.
	Free = folders.Free
	// MaxPageBytes is core.MaxPageBytes.
	MaxPageBytes = core.MaxPageBytes
	// MergeExisting is folders.MergeExisting.
	MergeExisting = folders.MergeExisting
	// Present is folders.Present.
	Present = folders.Present
	// RefuseExisting is folders.RefuseExisting.
	RefuseExisting = folders.RefuseExisting
	// ReplaceExisting is folders.ReplaceExisting.
	ReplaceExisting = folders.ReplaceExisting
	// StatusFailing is maintenance.StatusFailing.
	StatusFailing = maintenance.StatusFailing
	// StatusOK is maintenance.StatusOK.
	StatusOK = maintenance.StatusOK
	// StatusReadOnly is maintenance.StatusReadOnly.
	StatusReadOnly = maintenance.StatusReadOnly
	// StreamPart is core.StreamPart.
	StreamPart = core.StreamPart
)

var (
	// DestinationOf is files.DestinationOf.
	DestinationOf = files.DestinationOf
	// DownloadName is files.DownloadName.
	DownloadName = files.DownloadName
	// ErrPresumed is core.ErrPresumed.
	ErrPresumed = core.ErrPresumed
	// ErrUnknownKey is core.ErrUnknownKey.
	ErrUnknownKey = core.ErrUnknownKey
	// EventsOf is watch.EventsOf.
	EventsOf = watch.EventsOf
	// ParseAge is maintenance.ParseAge.
	ParseAge = maintenance.ParseAge
	// ResumableUploadNames is files.ResumableUploadNames.
	ResumableUploadNames = files.ResumableUploadNames
	// Shorten is core.Shorten.
	Shorten = core.Shorten
	// TypesOf is links.TypesOf.
	TypesOf = links.TypesOf
)
