package metadata

import (
	"cmp"
	"slices"
	"strconv"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
)

// State is the state of an object. The numbers are stored in keys and never change.
type State uint8

// The states of an object.
const (
	Active  State = 1
	Deleted State = 2
)

// String returns the name of the state in the API.
func (s State) String() string {
	if s == Active {
		return "active"
	}
	return "deleted"
}

// Visibility defines who may read a dataspace without a role in it. The numbers are stored and
// never change.
type Visibility uint8

// The visibilities of a dataspace.
const (
	Private Visibility = 1 // only users with a role
	Public  Visibility = 2 // every registered user
	Open    Visibility = 3 // everyone, without a key if the service allows it
)

// String returns the name of the visibility in the API.
func (v Visibility) String() string {
	switch v {
	case Public:
		return "public"
	case Open:
		return "open"
	}
	return "private"
}

// ToUsers reports whether every registered user may read. Data that is open to everyone is also
// open to users.
func (v Visibility) ToUsers() bool { return v == Public || v == Open }

// Record contains the fields of every stored object. In a new object Created and Modified are
// equal. Modified changes when the object is changed, replaced, deleted or restored.
type Record struct {
	ID                    ID
	State                 State
	TakenBy               Stamp // stamp of the deletion of the container that also deleted the object; 0: the object was deleted separately
	Created, Modified     Stamp
	CreatedBy, ModifiedBy ID // users
}

// Tag identifies this version of the record for clients: id, stamp of the last change, and state.
// It is the content of the record's strong ETag, without quotes.
func (r Record) Tag() string {
	return r.ID.String() + "." + strconv.FormatInt(int64(r.Modified), 36) + "." + r.State.String()[:1]
}

// Dataspace contains sets. Users have roles in dataspaces.
type Dataspace struct {
	Record
	Name, Title, Description string
	Visibility               Visibility
	Origin                   string // free text; "": none
	Retention                Retention
	Entry                    uint64 // number of the last audit log entry about it; 0: unchanged since the log began
	Quota                    int64  // limit for the bytes of all versions in it; 0: no limit
	Descriptive              string // JSON of its Descriptive; only set in responses, on request; not stored here
}

// Set contains resources.
type Set struct {
	Record
	DataspaceID              ID
	Name, Title, Description string
	Entry                    uint64 // as in Dataspace
	Extract                  Extract
	Descriptive              string // as in Dataspace
}

// Extract defines the sources from which the service fills properties of the files of a set. The
// bits are stored and never change.
type Extract uint8

// The sources of properties.
const (
	ExtractSidecar Extract = 1 // name.json next to name
	ExtractHeader  Extract = 2 // the content of the file
)

// extractWords are the names of the bits in the API, lowest bit first.
var extractWords = [...]string{"sidecar", "header"}

// ParseExtract returns the sources with these names, in any order. ok is false for an unknown or a
// repeated name.
func ParseExtract(words []string) (e Extract, ok bool) {
	for _, word := range words {
		bit := slices.Index(extractWords[:], word)
		if bit < 0 || e&(1<<bit) != 0 {
			return 0, false
		}
		e |= 1 << bit
	}
	return e, true
}

// Sources returns the names of the sources in the API, sidecar first. The result is never nil.
func (e Extract) Sources() []string {
	words := []string{}
	for bit, word := range extractWords {
		if e&(1<<bit) != 0 {
			words = append(words, word)
		}
	}
	return words
}

// Resource is one file: this record, and the blob with Digest.
type Resource struct {
	Record
	SetID, DataspaceID        ID
	Name, Description, Format string
	MimeType, Filename        string
	Digest                    blobs.Digest
	Bytes                     int64
	Version                   uint32       // number of times the file has been replaced
	Body                      BodyLocation // where the bytes are
	Label                     string       // label of the current version; "": none
	Entry                     uint64       // as in Dataspace
	Descriptive               string       // as in Dataspace
	Passage
	Damaged bool // the blob is known to be damaged or missing; only set in responses, not stored
}

// Passage records how a resource arrived and where it went.
type Passage struct {
	MovedTo ID // the new resource, if this one was deleted by a move to another set; otherwise zero
	LinkID  ID // the request link through which its first file arrived; zero: none

	// StoredBy is the user who stored the current version, if not the creator of the resource. A
	// move to another set stores all versions again. Use Storer to read it.
	StoredBy ID
}

// Storer returns the user whose quota counts the current version.
func (r Resource) Storer() ID { return cmp.Or(r.StoredBy, r.CreatedBy) }

// Tag is like Record.Tag with a distinction between tombstones and deleted resources. Damage does
// not change the tag.
func (r Resource) Tag() string {
	if r.Body == Purged {
		return r.Record.Tag() + "p"
	}
	return r.Record.Tag()
}

// User is a person or a program that calls the service.
type User struct {
	Record
	Username, Fullname, About string
	Sysadmin                  bool
	Entry                     uint64 // as in Dataspace
	Quota                     int64  // limit for the bytes of all versions that the user has stored; 0: no limit
}

// Key is a credential of a user. The table stores the digest of the key, not the key.
type Key struct {
	ID, UserID              ID
	Digest                  auth.KeyDigest
	Label, Prefix           string
	Created                 Stamp
	Expires, LastUsed, Gone Stamp // 0: never
	MadeWith                ID    // key of the same user on which this key depends; zero: none
	Limits                  auth.Limits
}

// Session is the credential of a browser, created with a key. The table stores the digest of its
// token, not the token.
type Session struct {
	UserID, KeyID    ID
	Digest           auth.SessionDigest
	Created, Expires Stamp
}

// SessionKey identifies a session.
type SessionKey struct {
	User   ID
	Digest auth.SessionDigest
}

// Key is the key of the session.
func (s Session) Key() SessionKey { return SessionKey{s.UserID, s.Digest} }

// ResumableUpload is a chunked upload of a file, an upload of the tus protocol. Only its sender may
// use it.
type ResumableUpload struct {
	ID                ID
	SenderID          ID // the user who sends it, or the request link
	SetID, ResourceID ID // the set of the new resource, or the resource whose file it replaces; the other is zero
	Created, Expires  Stamp
	Length            int64            // of the file, in bytes
	Checkpoint        blobs.Checkpoint // the part that is on stable storage
	Digest            blobs.Digest     // digest of the completely received file; zero: incomplete

	Name, Format, Description, Filename, ContentType string
	Expected                                         blobs.Digest // announced digest; zero: none
	Match                                            string       // required tag of the resource to be replaced; "": any
	Descriptive                                      string       // merge patch of the descriptive metadata; "": unchanged

	Announced string // data that the client announced, in the form of the protocol, for handlers
	Made      ID     // the resource that it created or replaced; zero: none yet
	Refusal   Refusal
}

// Refusal is the reason why a received file is refused. The zero value means that it is not
// refused.
type Refusal struct {
	Kind           errs.Kind
	Code           errs.Code
	Field, Message string
}

// Received reports whether the whole file was received.
func (t ResumableUpload) Received() bool { return t.Digest != blobs.Digest{} }

// Done reports whether the file has become the file of a resource.
func (t ResumableUpload) Done() bool { return t.Made != ID{} }

// Pending reports whether the whole file was received but is not the file of a resource yet.
func (t ResumableUpload) Pending() bool { return t.Received() && !t.Done() }

// PartialName returns the name of the partial file in the blob store.
func (t ResumableUpload) PartialName() string { return t.ID.String() }

// KeyState is the state of a key at a moment.
type KeyState string

// The states of a key.
const (
	KeyActive  KeyState = "active"
	KeyExpired KeyState = "expired"
	KeyRevoked KeyState = "revoked"
)

// StateAt returns the key's state at now.
func (k Key) StateAt(now Stamp) KeyState {
	switch {
	case k.Gone != 0:
		return KeyRevoked
	case k.Expires != 0 && k.Expires <= now:
		return KeyExpired
	}
	return KeyActive
}

// Privilege is the role of a user in a dataspace. Each pair has at most one. A revoked privilege is
// Deleted.
type Privilege struct {
	Record
	UserID, DataspaceID ID
	Role                auth.Role
}

// Counters count the files of a dataspace or of the whole service. Each resource's bytes count in
// full, even if two share a blob. OldVersions are the former versions of resources in any state,
// except those whose bytes were removed.
type Counters struct {
	ActiveFiles, ActiveBytes, DeletedFiles, DeletedBytes, OldVersions, OldBytes int64
}

// Add returns the sum of both counters.
func (c Counters) Add(d Counters) Counters {
	return Counters{
		ActiveFiles: c.ActiveFiles + d.ActiveFiles, ActiveBytes: c.ActiveBytes + d.ActiveBytes,
		DeletedFiles: c.DeletedFiles + d.DeletedFiles, DeletedBytes: c.DeletedBytes + d.DeletedBytes,
		OldVersions: c.OldVersions + d.OldVersions, OldBytes: c.OldBytes + d.OldBytes,
	}
}

// Negated returns the counters with the opposite sign.
func (c Counters) Negated() Counters {
	return Counters{-c.ActiveFiles, -c.ActiveBytes, -c.DeletedFiles, -c.DeletedBytes, -c.OldVersions, -c.OldBytes}
}

// Bytes returns the bytes of all versions.
func (c Counters) Bytes() int64 { return c.ActiveBytes + c.DeletedBytes + c.OldBytes }

// UserUsage is the number of bytes of the versions that a user has stored. Each version counts in
// full until its bytes are purged or erased, regardless of the state of its resource.
type UserUsage struct {
	UserID ID
	Bytes  int64
}

// Damage describes a blob whose file is damaged or missing.
type Damage struct {
	Digest blobs.Digest
	Found  Stamp  // first detection
	What   string // description for people
}

// Unreferenced is a blob that no resource references, and since when. The two times are from
// different clocks.
type Unreferenced struct {
	Digest blobs.Digest
	Bytes  int64
	Since  Stamp // stamp of the change that removed the last reference, or of the transaction that first found none
	Seen   Stamp // clock reading when it was first found after Since, µs since 1970; 0: not found yet
}

// BlobCount is a number of blobs, and their bytes.
type BlobCount struct{ Blobs, Bytes int64 }

// ScrubState is the progress of the scrub. The zero value means that it has never begun.
type ScrubState struct {
	After   blobs.Digest // last blob checked in this pass; zero: none
	Begun   Stamp        // beginning of this pass; 0: no pass
	Checked int64        // blobs read in this pass
	Found   int64        // damaged or missing blobs among them
	Passes  int64        // completed passes
}

// FillState is how far the instruments have followed the audit log. The zero value means that they
// have not begun.
type FillState struct {
	Arrivals  uint64 // number of the first unprocessed entry about a file
	Switches  uint64 // number of the first entry about a set whose files were not all examined; at most Arrivals
	AfterName string // last examined file of that set, by name and id; "": none
	AfterID   ID
}

// Day is a day in UTC, as the number of days since 1970-01-01.
type Day int32

// Day returns the day of the stamp.
func (s Stamp) Day() Day {
	return Day(s.Millis() / (24 * 60 * 60 * 1000))
}

// Cascade is a deletion or restoration of a container in progress. The container has changed, and
// its objects follow in batches, each of which is one bounded commit.
type Cascade struct {
	Container   ID
	DataspaceID ID     // the container's own id if it is a dataspace
	Restore     bool   // a restoration; otherwise a deletion
	By          ID     // the user who requested it
	Deletion    Stamp  // stamp of the container's deletion; TakenBy of the objects deleted with it has the same value
	Begun       Stamp  // stamp of the container's last change
	AfterSet    ID     // restoration: last completed set
	AfterStamp  Stamp  // restoration: resources deleted up to this stamp are complete
	Entry       uint64 // number of the audit log entry about the container's last change; 0: none
}

// OfDataspace reports whether the container is a dataspace; otherwise it is a set.
func (s Cascade) OfDataspace() bool {
	return s.Container == s.DataspaceID
}
