package client

import (
	"encoding/json"

	"labshelf/handlers/wire"
)

// The objects of the API. Package wire documents each of them.
type (
	Dataspace      = wire.Dataspace
	NewDataspace   = wire.NewDataspace
	DataspaceEdit  = wire.DataspaceEdit
	Set            = wire.Set
	NewSet         = wire.NewSet
	SetEdit        = wire.SetEdit
	Resource       = wire.Resource
	ResourceEdit   = wire.ResourceEdit
	Destination    = wire.Destination
	Version        = wire.Version
	Folder         = wire.Folder
	FolderSize     = wire.FolderSize
	FolderChange   = wire.FolderChange
	ManyFiles      = wire.ManyFiles
	ManyResult     = wire.ManyResult
	Outline        = wire.Outline
	Mark           = wire.Mark
	Metadata       = wire.Metadata
	History        = wire.History
	Time           = wire.Time
	Edit           = wire.Edit
	EditOutcome    = wire.EditOutcome
	EditChange     = wire.EditChange
	EditedField    = wire.EditedField
	EditProblem    = wire.EditProblem
	ManyEdit       = wire.ManyEdit
	Counters       = wire.Counters
	Usage          = wire.Usage
	UsageDay       = wire.UsageDay
	DataspaceUsage = wire.DataspaceUsage
	UserUsage      = wire.UserUsage

	User          = wire.User
	NewUser       = wire.NewUser
	UserEdit      = wire.UserEdit
	Key           = wire.Key
	NewKey        = wire.NewKey
	KeyLimits     = wire.KeyLimits
	KeyEdit       = wire.KeyEdit
	CreatedKey    = wire.CreatedKey
	KeyDependents = wire.KeyDependents
	KeyDependent  = wire.KeyDependent
	Privilege     = wire.Privilege
	NewPrivilege  = wire.NewPrivilege
	Link          = wire.Link
	AddressedLink = wire.AddressedLink
	NewLink       = wire.NewLink
	LinkEdit      = wire.LinkEdit

	Schema          = wire.Schema
	NewSchema       = wire.NewSchema
	SchemaEdit      = wire.SchemaEdit
	SchemaVersion   = wire.SchemaVersion
	Conformance     = wire.Conformance
	AppliedSchema   = wire.AppliedSchema
	PropertyProblem = wire.PropertyProblem

	Webhook       = wire.Webhook
	SecretWebhook = wire.SecretWebhook
	NewWebhook    = wire.NewWebhook
	WebhookEdit   = wire.WebhookEdit
	Delivery      = wire.Delivery

	AuditEntry   = wire.AuditEntry
	AuditHead    = wire.AuditHead
	EventObject  = wire.EventObject
	SearchCounts = wire.SearchCounts
	SearchCount  = wire.Count[string]
	YearCount    = wire.Count[int]
	Index        = wire.Index

	// Status is the status of a service. Its Detail, for sysadmins, is the undecoded JSON.
	Status = wire.Status[json.RawMessage]

	Violation    = wire.Violation
	CheckRequest = wire.CheckRequest
	CheckResult  = wire.CheckResult
	PurgeRequest = wire.PurgeRequest
	PurgeResult  = wire.PurgeResult
)

// The constants of the API.
const (
	Active  = wire.Active
	Deleted = wire.Deleted
	Paused  = wire.Paused

	Private = wire.Private
	Public  = wire.Public
	Open    = wire.Open

	Sidecar = wire.Sidecar
	Header  = wire.Header

	Member = wire.Member
	Editor = wire.Editor
	Admin  = wire.Admin

	Share      = wire.Share
	Request    = wire.Request
	Invitation = wire.Invitation

	DeleteMany  = wire.DeleteMany
	RestoreMany = wire.RestoreMany
	CopyMany    = wire.CopyMany
	MoveMany    = wire.MoveMany

	ForFiles = wire.ForFiles
	ForSets  = wire.ForSets

	KindDataspace = wire.KindDataspace
	KindSet       = wire.KindSet
	KindResource  = wire.KindResource

	IndexCurrent  = wire.IndexCurrent
	IndexBehind   = wire.IndexBehind
	IndexBuilding = wire.IndexBuilding
	IndexFailing  = wire.IndexFailing
)
