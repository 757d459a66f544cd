// Package metadata holds the nouns of a repository, and the contract of the store that keeps their
// records: all that an engine implements, and no rule of the repository. Package metadatatest
// proves an implementation.
//
// A store runs a function over a [Tx]: a struct of small typed tables, each of which gets, puts,
// and yields ranges in order. A table brings its indexes in line by itself and knows no rule.
// Permissions, conflicts and cascades are therefore written once, in package repository, and an
// engine has none to get wrong.
package metadata

import (
	"context"
	"io"
	"iter"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/paging"
)

// Reader reads the tables in transactions.
//
// The function given to a transaction may run in another goroutine, and once more from its
// beginning before it has read anything. It must not use the Tx after it returns and must not start
// another transaction. The rows are copies that it may keep, except those of Resources.Page, which
// are borrowed.
type Reader interface {
	// View runs fn in a read transaction: one consistent state, which may hold commits that are not
	// yet on stable storage.
	View(ctx context.Context, fn func(*Tx) error) error

	// ViewDurable is View, and returns only when everything that fn could see is on stable storage.
	// It holds no transaction while it waits. It returns ErrNotDurable if that will not happen, and
	// then nothing of what fn returned. Pages are read with it, so that no page token ever names a
	// stamp that a power cut takes back.
	ViewDurable(ctx context.Context, fn func(*Tx) error) error
}

// Writer changes the tables in transactions, one at a time; what Reader says of the function holds
// here too.
type Writer interface {
	// Update runs fn in a write transaction and returns when the commit is on stable storage.
	// Several operations may share one commit. An fn that returns an error changes nothing, and
	// Update returns that error. fn may run more than once, the first time perhaps without any
	// effect, and should find all its reasons to fail before its first write. Other errors:
	// ErrNoSpace, ErrUnwritable, ErrUnavailable, ErrReadOnly, ErrOutcomeUnknown, ErrClosed, or the
	// context's if it ended before fn ran with effect.
	Update(ctx context.Context, fn func(*Tx) error) error

	// UpdateBackground is Update for work in the background, which should take a few milliseconds
	// at a time. It gives way to calls of Update, with which it shares no commit: while there are
	// any it gets at most every other commit and half of the time; it is never starved.
	UpdateBackground(ctx context.Context, fn func(*Tx) error) error
}

// Maintenance is what a metadata store offers beyond its rows for checks and backups.
type Maintenance interface {
	// Inspect verifies what only the store knows: its pages, the checksums of its rows, its indexes
	// and its stamps. It calls report for each Violation of the parts PartPages and PartRows, in no
	// particular order, and repairs nothing. An error says why it could not go on. It is one long
	// read transaction: while it runs, the space of replaced and removed rows is not reused, so the
	// file may grow.
	Inspect(ctx context.Context, report func(Violation)) error

	// Snapshot copies one consistent state, all of which is on stable storage, to a file of its
	// own. It returns ErrNoSpace if there is no room for that, ErrNotDurable if the state will
	// never be on stable storage, ErrClosed, or the context's error.
	Snapshot(ctx context.Context) (Snapshot, error)
}

// Snapshot is a copy of a metadata store, to be read from its beginning to its end, in a form of
// the store's own. The caller closes it; that removes it.
type Snapshot interface {
	io.ReadSeekCloser
	// Stamp returns the last stamp given out in the state that was copied.
	Stamp() Stamp
	// Bytes returns the length.
	Bytes() int64
}

// Versioned is what a metadata store offers to a cache of access rows.
type Versioned interface {
	// AccessVersion is the version of the rows that decide who may do what, and where: users, keys
	// except LastUsed, sessions, privileges, dataspaces, sets, cascades. It has grown when an
	// Update that changed one of them returns, whether the commit succeeded or not. It starts above
	// 0; 0 means that such a commit is under way and the version is unknown. Where several
	// processes share the tables it is that of all of them, read anew by each call, which can fail.
	AccessVersion(ctx context.Context) (uint64, error)
}

// Transactions reads and changes the tables.
type Transactions interface {
	Reader
	Writer
}

// Store is a metadata store: typed tables in transactions, ordered listings, stamps. It knows no
// rule of the repository. Packages bolt and postgres implement it for real, metadatatest in memory
// for comparison; all pass the same suite.
type Store interface {
	Transactions
	Versioned
	Maintenance

	// Secret returns the 32 random bytes, made once for this store, that authenticate page tokens.
	Secret() [32]byte

	// Engine says what the store is.
	Engine() Engine

	// Health returns the present state of the store.
	Health() Health

	// Close waits for running transactions and refuses others. It is not to be called twice.
	Close() error
}

// Health of a metadata store.
type Health struct {
	ReadOnly    error         // why no change is taken any more; nil while all is well
	ClockBehind time.Duration // how far the clock is behind the last stamp; 0 if it is not
	Suspect     error         // what was suspect when the store was opened, for operators; nil: nothing
}

// Tx is the tables as one transaction sees them. In a read transaction Put, Remove, Now and Stamp
// panic.
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
	Cascades       Cascades
	Usage          Usage
	UserUsage      UsageOfUsers
	Blobs          Blobs
	Trashed        TrashedObjects
	Damages        Damages
	Unreferenced   UnreferencedBlobs
	InlineBodies   InlineBodies
	Scrub          Scrub
	Filling        Filling
	Lineage        Lineage
	Audit          AuditLog
	Webhooks       Webhooks
	Deliveries     Deliveries
	Descriptive    Descriptives
	Schemas        Schemas
	SchemaVersions SchemaVersions
	Edits          BulkEdits
	EditEntries    EditEntries
	Folders        Folders
	FileProperties PropertiesOfFiles
	Links          Links
	LinkUses       LinkUses
	Leases         Leases
	Nodes          Nodes

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

// A lookup of one row returns ErrNotFound where there is none, and ErrRecordDamaged for one that
// cannot be trusted. Put inserts, or replaces the row with the same id, and updates all indexes;
// the caller checks before that a name or a pair is free. Sequences are read lazily, yield an error
// at most once, as their last element, and must not be used while their table is written.

// Dataspaces is the table of dataspaces.
type Dataspaces interface {
	Get(ID) (Dataspace, error)
	ByName(name string) (ID, error)
	Put(Dataspace) error
	// All yields every dataspace with an id greater than after, ascending.
	All(after ID) iter.Seq2[Dataspace, error]
	// Public yields the ids of the dataspaces that every user may read, public and open ones, in
	// any state, greater than after, ascending.
	Public(after ID) iter.Seq2[ID, error]
}

// Sets is the table of sets.
type Sets interface {
	Get(ID) (Set, error)
	ByName(name string) (ID, error)
	Put(Set) error
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

// Versions is the table of the versions of resources before the present ones. No row is ever
// removed.
type Versions interface {
	Get(VersionKey) (Version, error)
	Put(Version) error
	// Before yields the versions of a resource with a number less than one, the newest first.
	Before(VersionKey) iter.Seq2[Version, error]
	// All yields every version after a key (by resource, then number), ascending; zero: from the
	// first.
	All(after VersionKey) iter.Seq2[Version, error]
}

// Users is the table of users.
type Users interface {
	Get(ID) (User, error)
	// ByName ignores the case of the username.
	ByName(username string) (ID, error)
	Put(User) error
	// All yields every user with an id greater than after, ascending.
	All(after ID) iter.Seq2[User, error]
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
	Get(user ID, digest auth.SessionDigest) (Session, error)
	Put(Session) error
	// Remove removes the row; that there is none is no error.
	Remove(user ID, digest auth.SessionDigest) error
	// OfUser yields the user's, ascending by digest.
	OfUser(user ID) iter.Seq2[Session, error]
}

// ResumableUploads is the table of files that are received in chunks.
type ResumableUploads interface {
	Get(ID) (ResumableUpload, error)
	Put(ResumableUpload) error
	// Remove removes the row; that there is none is no error.
	Remove(ID) error
	// Ended yields the ids of those that expire by a stamp, ascending by that.
	Ended(by Stamp) iter.Seq2[ID, error]
	// Awaited tells whether one that is Received, and has not become a resource, has this digest.
	Awaited(blobs.Digest) (bool, error)
}

// Privileges is the table of privileges, revoked ones included.
type Privileges interface {
	Get(ID) (Privilege, error)
	// Of returns the one of this pair.
	Of(user, dataspace ID) (Privilege, error)
	Put(Privilege) error
	// All yields every privilege with an id greater than after, ascending.
	All(after ID) iter.Seq2[Privilege, error]
	// OfUser yields the user's, ascending by dataspace, from those greater than after.
	OfUser(user, after ID) iter.Seq2[Privilege, error]
	// OfDataspace yields the dataspace's, ascending by user.
	OfDataspace(dataspace ID) iter.Seq2[Privilege, error]
}

// Cascades is the table of deletions and restorations under way, at most one for each container.
type Cascades interface {
	Get(container ID) (Cascade, error)
	Put(Cascade) error
	Remove(container ID) error
	// All yields them ascending by container.
	All() iter.Seq2[Cascade, error]
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

// UsageOfUsers is the table of what users use.
type UsageOfUsers interface {
	Get(user ID) (UserUsage, error)
	Put(UserUsage) error
	// All yields those of users with an id greater than after, ascending; zero: from the first.
	All(after ID) iter.Seq2[UserUsage, error]
}

// Blobs is the table of blobs that a commit has recorded: their files were on stable storage before
// it; with the references to them, from Resources and Versions that are InBlob.
type Blobs interface {
	Get(blobs.Digest) (blobs.Blob, error)
	Put(blobs.Blob) error
	// Remove removes the row; that there is none is no error.
	Remove(blobs.Digest) error
	// All yields every blob with a digest greater than after, ascending; nil: from the first.
	All(after *blobs.Digest) iter.Seq2[blobs.Blob, error]
	// Refs yields the keys of the versions, present and former ones, whose file the blob is,
	// ascending by resource, then number, whether or not there is a row of the blob. Each comes
	// once.
	Refs(blobs.Digest) iter.Seq2[VersionKey, error]
}

// Damages is the table of blobs that are known to be damaged or missing.
type Damages interface {
	Get(blobs.Digest) (Damage, error)
	Put(Damage) error
	// Remove removes the row; that there is none is no error.
	Remove(blobs.Digest) error
	// All yields them ascending by digest.
	All() iter.Seq2[Damage, error]
}

// UnreferencedBlobs is the table of blobs to which no version of a resource refers, with or without
// a row among Blobs.
type UnreferencedBlobs interface {
	Get(blobs.Digest) (Unreferenced, error)
	Put(Unreferenced) error
	// Remove removes the row; that there is none is no error.
	Remove(blobs.Digest) error
	// All yields those with a digest greater than after, ascending; nil: from the first.
	All(after *blobs.Digest) iter.Seq2[Unreferenced, error]
	// Total counts what All would yield, without reading it.
	Total() (BlobCount, error)
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

// Scrub holds one row: how far the background reading of all blobs has come.
type Scrub interface {
	// Get returns the row; the zero value where none was ever put.
	Get() (ScrubState, error)
	Put(ScrubState) error
}

// Filling holds one row: how far instruments have followed the audit log.
type Filling interface {
	// Get returns the row; the zero value where none was ever put.
	Get() (FillState, error)
	Put(FillState) error
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
