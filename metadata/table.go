package metadata

import (
	"iter"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/paging"
)

// Table is the rows of one noun, each under a key of its own.
type Table[K, R any] interface {
	// Get returns the row under a key. It returns ErrNotFound if there is no such row, and
	// ErrRecordDamaged if the stored record cannot be trusted.
	Get(K) (R, error)
	// Put inserts the row, or replaces the row with the same key, and updates all indexes. The
	// caller checks before that a name or a pair is free.
	Put(R) error
	// Remove removes a row with its index entries. A missing row is no error.
	Remove(K) error
	// All yields the rows with a key greater than after, ascending; all rows if after is zero.
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
	// From yields the rows with the same first part from a key on, ascending.
	From(K) iter.Seq2[R, error]
}

// Value is a table of one row.
type Value[R any] interface {
	// Get returns the row; the zero value before the first Put.
	Get() (R, error)
	Put(R) error
}

// Tx is the tables as one transaction sees them. In a read transaction Put, Remove, Now and Stamp
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

	// Now returns what the clock of the store shows, whatever the last stamp is: the one clock for
	// all processes that share the tables.
	Now func() Stamp

	// Stamp returns the next stamp; see the type. Each call gives a greater one.
	Stamp func() Stamp

	// Access returns the AccessVersion of the rows that this transaction sees; 0 if it is unknown,
	// and once the transaction has changed one of them. In two transactions with the same version,
	// other than 0, those rows are the same.
	Access func() uint64

	// Prefetch fetches at once all that reads asks for. A store that answers many questions as fast
	// as one calls it: a lookup in it may find nothing, a sequence may be empty, and it keeps
	// nothing of that. Any other store does nothing. Either way what is read next is the same.
	Prefetch func(reads func())

	// Facts is the caller's cache of those rows. The store does not use it.
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
	// Public yields the ids of the dataspaces that every user may read, public and open ones, in
	// any state, greater than after, ascending.
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
	Dataspaces []ID // the sets of these, without repetition; nil: of every dataspace
	States     paging.States
	After      ID // exclusive
}

// Resources is the table of resources.
type Resources interface {
	Get(ID) (Resource, error)
	Put(Resource) error
	Range(ResourceRange) iter.Seq2[Resource, error]
	// Page calls fn for what Range yields, until fn returns false. The resource is borrowed: it is
	// the same one each time, and its texts may be memory of the store. Neither is valid once fn
	// has returned.
	Page(q ResourceRange, fn func(*Resource) (more bool)) error
	// Children calls file, as Page calls fn, for the resources of a range by name that have no
	// slash in their names behind NamePrefix, and folder for each text that the names of the others
	// begin with, up to that slash. It is called once for each, where the first one of them would
	// come. Of a range with active resources also the paths among Folders count as names. After
	// with a zero ID is a folder that Children has named: the range goes on behind all that is in
	// it.
	Children(q ResourceRange, file func(*Resource) (more bool), folder func(path string) (more bool)) error
}

// ResourceRange selects resources, in one of the orders Oldest, Newest (by stamp of last
// modification, then id), ByName and ByNameDown (bytes of the name, then id, and backwards; only
// within a set).
type ResourceRange struct {
	Set          ID   // the resources of this set, if not zero; else
	Dataspaces   []ID // of these dataspaces, without repetition; nil: of every one
	States       paging.States
	Order        paging.Order
	Since, Until Stamp           // exclusive bounds of Modified; Until 0: none. Not by name.
	Name         *string         // exactly this name; only by name
	NamePrefix   string          // only by name
	After        paging.Position // exclusive
	// Keys asks for what the index knows: of each resource only the id is filled in, and the name
	// or the stamp of last modification by which it is ordered. No record is read.
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
	// OfUser yields the user's keys with an id greater than after, ascending.
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

// ResumableUploads is the table of files that are received in chunks.
type ResumableUploads interface {
	Table[ID, ResumableUpload]
	UploadFinders
}

// UploadFinders finds uploads by their end and by digest.
type UploadFinders interface {
	// Ended yields the ids of the uploads that expire by a stamp, ascending by that.
	Ended(by Stamp) iter.Seq2[ID, error]
	// Awaited reports whether a Pending upload has this digest.
	Awaited(blobs.Digest) (bool, error)
}

// Privileges is the table of privileges, revoked ones included.
type Privileges interface {
	Table[ID, Privilege]
	PrivilegeFinders
}

// PrivilegeFinders finds privileges by user and by dataspace.
type PrivilegeFinders interface {
	// Of returns the privilege of a user in a dataspace.
	Of(user, dataspace ID) (Privilege, error)
	// OfUser yields the privileges of a user in dataspaces greater than after, ascending by
	// dataspace.
	OfUser(user, after ID) iter.Seq2[Privilege, error]
	// OfDataspace yields the privileges in a dataspace, ascending by user.
	OfDataspace(dataspace ID) iter.Seq2[Privilege, error]
}

// Usage is the table of counters, by dataspace.
type Usage interface {
	// Get returns the counters as they are; zero where nothing was ever put.
	Get(dataspace ID) (Counters, error)
	// Put sets the counters, and those at the end of that day.
	Put(dataspace ID, day Day, c Counters) error
	// Days yields each day on which the counters were put, ascending, with those at its end.
	Days(dataspace ID) iter.Seq2[DayCounters, error]
}

// DayCounters are the counters at the end of a day.
type DayCounters struct {
	Day Day
	Counters
}

// Blobs is the table of blobs that a commit has recorded: their files were on stable storage before
// it.
type Blobs interface {
	Table[blobs.Digest, blobs.Blob]
	BlobFinders
}

// BlobFinders finds the references to blobs, from Resources and Versions that are InBlob.
type BlobFinders interface {
	// Refs yields the keys of the versions, present and former ones, whose file the blob is,
	// ascending by resource, then number, whether or not there is a row of the blob. Each comes
	// once.
	Refs(blobs.Digest) iter.Seq2[VersionKey, error]
}

// UnreferencedBlobs is the table of blobs to which no version of a resource refers, with or without
// a row among Blobs.
type UnreferencedBlobs interface {
	Table[blobs.Digest, Unreferenced]
	Counted[BlobCount]
}

// Counted is the size of a table that keeps count of its rows.
type Counted[C any] interface {
	// Total counts what All would yield, without reading it.
	Total() (C, error)
}

// InlineBodies is the table of bodies that are in the metadata store, not in the blob store.
type InlineBodies interface {
	Get(VersionKey) ([]byte, error)
	// Put does not keep or change the bytes.
	Put(VersionKey, []byte) error
	// Remove removes the body; that there is none is no error.
	Remove(VersionKey) error
	// All yields the key of every body greater than after (by resource, then version), ascending;
	// zero: from the first.
	All(after VersionKey) iter.Seq2[VersionKey, error]
	// Total counts what All would yield, without reading it.
	Total() (BodyCount, error)
}

// Lineage tells which state of the repository the rows are: the epoch, and the last stamp.
type Lineage interface {
	// Epoch returns the present epoch; the zero Epoch where metadata of a schema without epochs are
	// only read.
	Epoch() (Epoch, error)
	Put(Epoch) error
	// LastStamp returns the last stamp given out, also by this transaction; 0: none has been.
	LastStamp() (Stamp, error)
}
