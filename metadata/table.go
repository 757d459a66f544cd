package metadata

import (
	"iter"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/paging"
)

// Table is the rows of one noun, each under its own key.
type Table[K, R any] interface {
	// Get returns the row under a key. It returns ErrNotFound if there is no such row, and
	// ErrRecordDamaged if the stored record cannot be trusted.
	Get(K) (R, error)
	// Put inserts the row, or replaces the row with the same key, and updates all indexes. The
	// caller checks before that a name or a pair is free.
	Put(R) error
	// Remove removes a row with its index entries. A missing row is not an error.
	Remove(K) error
	// All yields the rows in ascending order of their keys. If the given key is not zero, only rows
	// with greater keys are included.
	All(after K) iter.Seq2[R, error]
}

// Backwards reads the rows that share the first part of their keys, such as the versions of one
// resource.
type Backwards[K, R any] interface {
	// Before yields the rows with the same first part and a smaller key, the greatest key first.
	Before(K) iter.Seq2[R, error]
}

// Forwards reads the rows that share the first part of their keys, such as the folders of one set.
type Forwards[K, R any] interface {
	// From yields the rows with the same first part and an equal or greater key, ascending.
	From(K) iter.Seq2[R, error]
}

// Value is a table of one row.
type Value[R any] interface {
	// Get returns the row; the zero value before the first Put.
	Get() (R, error)
	Put(R) error
}

// Tx provides the tables in one transaction. In a read transaction Put, Remove, Now and Stamp
// panic.
//
// Sequences are read lazily, yield an error at most once, as their last element, and must not be
// used while their table is written. Finders that return one row or id return errors as Get does.
type Tx struct {
	Dataspaces     Dataspaces
	Sets           Sets
	Resources      Resources
	Versions       Versions
	Users          Users
	Keys           Keys
	Sessions       Sessions
	Uploads        ResumableUploads
	Privileges     Privileges
	Cascades       Table[ID, Cascade] // by container
	Usage          Usage
	UserUsage      Table[ID, UserUsage] // by user
	Blobs          Blobs
	Trashed        TrashedObjects
	Damages        Table[blobs.Digest, Damage]
	Unreferenced   UnreferencedBlobs
	InlineBodies   InlineBodies
	Scrub          Value[ScrubState] // progress of the background reading of all blobs
	Filling        Value[FillState]  // progress of the instruments in the audit log
	Lineage        Lineage
	Audit          AuditLog
	Webhooks       Table[ID, Webhook]
	Deliveries     Deliveries
	Descriptive    Table[ID, Descriptive] // by object
	Schemas        Schemas
	SchemaVersions SchemaVersions
	Edits          BulkEdits
	EditEntries    EditEntries
	Folders        Folders
	FileProperties Table[ID, FileProperties] // by resource; a row outlives a deleted resource
	Links          Links
	LinkUses       Table[ID, LinkUse] // by link
	Leases         Leases
	Nodes          Table[ID, Node] // by instance

	// Now returns the clock of the store, independent of the last stamp. All processes that share
	// the tables use this clock.
	Now func() Stamp

	// Stamp returns the next stamp; see the type. Each call returns a greater one.
	Stamp func() Stamp

	// Access returns the AccessVersion of the rows that this transaction sees. It returns 0 if the
	// version is unknown, or after the transaction has changed one of the rows. Two transactions
	// with the same version, other than 0, see the same rows.
	Access func() uint64

	// Prefetch fetches the rows that the given function requests, in one batch. Only a store that
	// answers many reads as fast as one calls the function. During the call, lookups may find
	// nothing and sequences may be empty, and the store discards the effects. Later reads return
	// the same rows in any case.
	Prefetch func(reads func())

	// Facts is the caller's cache of the access rows. The store does not use it.
	Facts any
}

// Dataspaces is the table of dataspaces.
type Dataspaces interface {
	Table[ID, Dataspace]
	DataspaceFinders
}

// DataspaceFinders finds dataspaces by name and by visibility.
type DataspaceFinders interface {
	ByName(name string) (ID, error)
	// Public yields the ids of the dataspaces that every user may read (public and open), in any
	// state, in ascending order. Only ids greater than the given one are included.
	Public(after ID) iter.Seq2[ID, error]
}

// Sets is the table of sets.
type Sets interface {
	Table[ID, Set]
	SetFinders
}

// SetFinders finds sets by name, and by dataspace and state.
type SetFinders interface {
	ByName(name string) (ID, error)
	Range(SetRange) iter.Seq2[Set, error]
}

// SetRange selects sets, in ascending order of id.
type SetRange struct {
	Dataspaces []ID // only sets of these dataspaces, without duplicates; nil: of all
	States     paging.States
	After      ID // exclusive
}

// Resources is the table of resources.
type Resources interface {
	Get(ID) (Resource, error)
	Put(Resource) error
	Range(ResourceRange) iter.Seq2[Resource, error]
	// Page calls fn for each resource of Range, until fn returns false. The resource is borrowed:
	// all calls share it, and its strings may be memory of the store. It is invalid after fn
	// returns.
	Page(q ResourceRange, fn func(*Resource) (more bool)) error
	// Children lists the children of a range by name. It calls file for each resource without a
	// slash in its name after NamePrefix, like Page. For the other resources, it calls folder with
	// the name up to that slash, once per folder, in the order of the first such resource. In a
	// range with active resources, the paths in Folders count as names, too. If After has a zero
	// ID, it is a folder, and the range continues after all its content.
	Children(q ResourceRange, file func(*Resource) (more bool), folder func(path string) (more bool)) error
}

// ResourceRange selects resources in one of four orders. Oldest and Newest order by the stamp of
// the last modification, then id. ByName and ByNameDown order by the bytes of the name, then id;
// they require a set.
type ResourceRange struct {
	Set          ID   // if not zero, resources of this set
	Dataspaces   []ID // otherwise, only resources of these dataspaces, without duplicates; nil: of all
	States       paging.States
	Order        paging.Order
	Since, Until Stamp           // exclusive bounds of Modified; Until 0: no bound; not for orders by name
	Name         *string         // exactly this name; only for orders by name
	NamePrefix   string          // only for orders by name
	After        paging.Position // exclusive
	// Keys limits the rows to the content of the index: the id, and the name or stamp by which they
	// are ordered. No record is read.
	Keys bool
}

// Versions is the table of the former versions of resources. The repository removes no row.
type Versions interface {
	Table[VersionKey, Version]
	Backwards[VersionKey, Version]
}

// Users is the table of users.
type Users interface {
	Table[ID, User]
	UserFinders
}

// UserFinders finds users by name.
type UserFinders interface {
	// ByName ignores the case of the username.
	ByName(username string) (ID, error)
}

// Keys is the table of keys.
type Keys interface {
	Get(user, key ID) (Key, error)
	ByDigest(auth.KeyDigest) (Key, error)
	Put(Key) error
	// OfUser yields the keys of a user in ascending order of their ids. Only ids greater than the
	// given one are included.
	OfUser(user, after ID) iter.Seq2[Key, error]
}

// Sessions is the table of sessions.
type Sessions interface {
	Table[SessionKey, Session]
	SessionFinders
}

// SessionFinders finds sessions by user.
type SessionFinders interface {
	// OfUser yields the sessions of a user, ascending by digest.
	OfUser(user ID) iter.Seq2[Session, error]
}

// ResumableUploads is the table of chunked uploads.
type ResumableUploads interface {
	Table[ID, ResumableUpload]
	UploadFinders
}

// UploadFinders finds uploads by expiry and by digest.
type UploadFinders interface {
	// Ended yields the ids of the uploads that expire at or before a stamp, in the order of expiry.
	Ended(by Stamp) iter.Seq2[ID, error]
	// Awaited reports whether a Pending upload has this digest.
	Awaited(blobs.Digest) (bool, error)
}

// Privileges is the table of privileges, including revoked ones.
type Privileges interface {
	Table[ID, Privilege]
	PrivilegeFinders
}

// PrivilegeFinders finds privileges by user and by dataspace.
type PrivilegeFinders interface {
	// Of returns the privilege of a user in a dataspace.
	Of(user, dataspace ID) (Privilege, error)
	// OfUser yields the privileges of a user in ascending order of the dataspaces. Only dataspaces
	// with ids greater than the given one are included.
	OfUser(user, after ID) iter.Seq2[Privilege, error]
	// OfDataspace yields the privileges in a dataspace, ascending by user.
	OfDataspace(dataspace ID) iter.Seq2[Privilege, error]
}

// Usage is the table of counters, by dataspace.
type Usage interface {
	// Get returns the current counters, or zero before the first Put.
	Get(dataspace ID) (Counters, error)
	// Put sets the current counters, and the counters at the end of that day.
	Put(dataspace ID, day Day, c Counters) error
	// Days yields the counters at the end of each day with a Put, in ascending order.
	Days(dataspace ID) iter.Seq2[DayCounters, error]
}

// DayCounters are the counters at the end of a day.
type DayCounters struct {
	Day Day
	Counters
}

// Blobs is the table of blobs that a commit has recorded. Their files were on stable storage before
// the commit.
type Blobs interface {
	Table[blobs.Digest, blobs.Blob]
	BlobFinders
}

// BlobFinders finds the references to blobs from Resources and Versions that are InBlob.
type BlobFinders interface {
	// Refs yields the keys of the current and former versions with this blob, ascending by
	// resource, then number. The blob itself need not have a row. Each key comes once.
	Refs(blobs.Digest) iter.Seq2[VersionKey, error]
}

// UnreferencedBlobs is the table of blobs that no version of a resource references, with or without
// a row in Blobs.
type UnreferencedBlobs interface {
	Table[blobs.Digest, Unreferenced]
	Counted[BlobCount]
}

// Counted is a table that keeps the total of its rows.
type Counted[C any] interface {
	// Total returns the total of all rows without reading them.
	Total() (C, error)
}

// InlineBodies is the table of bodies in the metadata store.
type InlineBodies interface {
	Get(VersionKey) ([]byte, error)
	// Put does not keep or change the bytes.
	Put(VersionKey, []byte) error
	// Remove removes the body. A missing body is not an error.
	Remove(VersionKey) error
	// All yields the keys of all bodies, by resource, then version. If the given key is not zero,
	// only greater keys are included.
	All(after VersionKey) iter.Seq2[VersionKey, error]
	// Total returns the number and the bytes of all bodies without reading them.
	Total() (BodyCount, error)
}

// Lineage identifies the state of the repository: the epoch and the last stamp.
type Lineage interface {
	// Epoch returns the current epoch. It returns the zero Epoch for read-only metadata of a schema
	// without epochs.
	Epoch() (Epoch, error)
	Put(Epoch) error
	// LastStamp returns the last stamp given out, including by this transaction. It returns 0
	// before the first stamp.
	LastStamp() (Stamp, error)
}
