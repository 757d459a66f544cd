package metadata

import (
	"cmp"
	"slices"
	"strconv"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
)

// State of an object. The numbers are stored in keys: they never change.
type State uint8

// The states.
const (
	Active  State = 1
	Deleted State = 2
)

// String returns the state as the interface writes it.
func (s State) String() string {
	if s == Active {
		return "active"
	}
	return "deleted"
}

// Visibility tells who may read a dataspace without a role in it. The numbers are stored: they
// never change.
type Visibility uint8

// The visibilities.
const (
	Private Visibility = 1 // only users with a role
	Public  Visibility = 2 // every registered user
	Open    Visibility = 3 // everybody, also without a key if the service allows that
)

// String returns the visibility as the interface writes it.
func (v Visibility) String() string {
	switch v {
	case Public:
		return "public"
	case Open:
		return "open"
	}
	return "private"
}

// ToUsers tells whether every registered user may read: what is open to everybody is open to users,
// too.
func (v Visibility) ToUsers() bool { return v == Public || v == Open }

// Record is what every stored object has. Created and Modified are equal in a new object; Modified
// changes when the object is changed, replaced, deleted or restored.
type Record struct {
	ID                    ID
	State                 State
	TakenBy               Stamp // the deletion of a container with which the object was deleted; 0: it was deleted by itself
	Created, Modified     Stamp
	CreatedBy, ModifiedBy ID // users
}

// Tag identifies this version of the record as a client sees it: id, stamp of the last change,
// state shown. It is the content of the record's strong ETag, without quotes.
func (r Record) Tag() string {
	return r.ID.String() + "." + strconv.FormatInt(int64(r.Modified), 36) + "." + r.State.String()[:1]
}

// Dataspace holds sets. Users have roles in dataspaces.
type Dataspace struct {
	Record
	Name, Title, Description string
	Visibility               Visibility
	Origin                   string // free text; "" is none
	Retention                Retention
	Entry                    uint64 // number of the last entry of the audit log about it; 0: none, it has not been changed since there is a log
	Quota                    int64  // bytes of all versions in it, at most; 0: no limit
	Descriptive              string // JSON of its Descriptive; told to callers, "" where there is none or it was not asked for, never stored with the rest
}

// Set holds resources.
type Set struct {
	Record
	DataspaceID              ID
	Name, Title, Description string
	Entry                    uint64 // as in Dataspace
	Extract                  Extract
	Descriptive              string // as in Dataspace
}

// Extract says from where the properties of the files of a set are filled by themselves. The bits
// are stored: they never change.
type Extract uint8

// Where properties come from.
const (
	ExtractSidecar Extract = 1 // name.json beside name
	ExtractHeader  Extract = 2 // what the file itself says
)

// extractWords are the words of the interface for the bits, from the lowest on.
var extractWords = [...]string{"sidecar", "header"}

// ParseExtract returns the sources that words name, in any order. ok is false if one of them names
// none, or one is there twice.
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

// Sources returns the words of the interface for them, sidecar first; never nil.
func (e Extract) Sources() []string {
	words := []string{}
	for bit, word := range extractWords {
		if e&(1<<bit) != 0 {
			words = append(words, word)
		}
	}
	return words
}

// Resource is one file: this record and the blob that Digest names.
type Resource struct {
	Record
	SetID, DataspaceID        ID
	Name, Description, Format string
	MimeType, Filename        string
	Digest                    blobs.Digest
	Bytes                     int64
	Version                   uint32       // how often the file has been replaced
	Body                      BodyLocation // where the bytes are
	Label                     string       // of the present version; "": none
	Entry                     uint64       // as in Dataspace
	Descriptive               string       // as in Dataspace
	Passage
	Damaged bool // the blob is known to be damaged or missing; told to callers, never stored
}

// Passage is how a resource came, and where it went.
type Passage struct {
	MovedTo ID // of a deleted one that was moved into another set: the resource that it has become; zero: none
	LinkID  ID // the request link through which its first file came; zero: none

	// StoredBy is the user who stored the present version, if that is not the creator of the
	// resource. A move into another set stores all versions anew. Callers read Storer.
	StoredBy ID
}

// Storer returns the user whose quota counts the present version.
func (r Resource) Storer() ID { return cmp.Or(r.StoredBy, r.CreatedBy) }

// Tag is Record.Tag, and tells a tombstone from a deleted resource. Damage is no other version.
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
	Quota                     int64  // bytes of all versions that it has stored, at most; 0: no limit
}

// Key is one credential of a user. The key itself is not stored, only its digest.
type Key struct {
	ID, UserID              ID
	Digest                  auth.KeyDigest
	Label, Prefix           string
	Created                 Stamp
	Expires, LastUsed, Gone Stamp // 0: never
	MadeWith                ID    // key of the same user that made this one, which ends with it; zero: this one ends by itself
}

// Session is the credential of a browser, made with a key. Its token is not stored, only the
// digest.
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

// ResumableUpload is a file that is received in chunks; the tus protocol calls it an upload. Only
// its sender may use it.
type ResumableUpload struct {
	ID                ID
	SenderID          ID // the user who sends it, or the request link through which it comes
	SetID, ResourceID ID // the set of the new resource, or else the resource whose file it replaces; the other one is zero
	Created, Expires  Stamp
	Length            int64            // of the file, in bytes
	Checkpoint        blobs.Checkpoint // how much of it is on stable storage
	Digest            blobs.Digest     // of the file, once all of it is received; before, zero

	Name, Format, Description, Filename, ContentType string
	Expected                                         blobs.Digest // as announced; zero: it was not
	Match                                            string       // the tag that a resource to be replaced must have; "": any
	Descriptive                                      string       // a merge patch of the descriptive metadata; "": they stay as they are

	Announced string // what the client sent about it, as the protocol has it, for handlers
	Made      ID     // the resource that it made, or whose file it replaced; zero: none yet
	Refusal   Refusal
}

// Refusal is why a file that was received is refused. The zero value: it is not.
type Refusal struct {
	Kind           errs.Kind
	Code           errs.Code
	Field, Message string
}

// Received tells whether all of the file is received.
func (t ResumableUpload) Received() bool { return t.Digest != blobs.Digest{} }

// Done tells whether the file has become that of a resource.
func (t ResumableUpload) Done() bool { return t.Made != ID{} }

// Pending tells whether all of the file is received and it may still become that of a resource.
func (t ResumableUpload) Pending() bool { return t.Received() && !t.Done() }

// PartialName is the name of its partial file in the blob store.
func (t ResumableUpload) PartialName() string { return t.ID.String() }

// KeyState of a key at a moment.
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

// Privilege is one user's role in one dataspace. There is at most one for each pair; it is Deleted
// when revoked.
type Privilege struct {
	Record
	UserID, DataspaceID ID
	Role                auth.Role
}

// Counters are the files of a dataspace, or of the whole service. Bytes are those of the resources,
// each counted in full, also where two share one blob. OldVersions are those before the present
// ones, of resources in any state, less those whose bytes are gone.
type Counters struct {
	ActiveFiles, ActiveBytes, DeletedFiles, DeletedBytes, OldVersions, OldBytes int64
}

// Add returns the sum of both.
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

// UserUsage is how many bytes the versions have that a user has stored. Each counts in full until
// its bytes are purged or erased, whatever the state of its resource.
type UserUsage struct {
	UserID ID
	Bytes  int64
}

// Damage is what is known about a blob whose file is damaged or missing.
type Damage struct {
	Digest blobs.Digest
	Found  Stamp  // when it was detected first
	What   string // what is wrong, for people
}

// Unreferenced is a blob that no resource refers to, and when that began. The times are of
// different clocks.
type Unreferenced struct {
	Digest blobs.Digest
	Bytes  int64
	Since  Stamp // of the change that took the last reference, or of the transaction that first found none
	Seen   Stamp // the clock, when it was first found behind Since, µs since 1970; 0: it was not
}

// BlobCount is a number of blobs, and their bytes.
type BlobCount struct{ Blobs, Bytes int64 }

// ScrubState is the progress of the scrub. The zero value: it has never begun.
type ScrubState struct {
	After   blobs.Digest // blobs up to this one are done in this pass; zero: none
	Begun   Stamp        // when this pass began; 0: no pass has
	Checked int64        // blobs read in this pass
	Found   int64        // of which damaged or missing
	Passes  int64        // passes that came to their end
}

// FillState is how far instruments have followed the audit log. The zero value: nothing of it.
type FillState struct {
	Arrivals  uint64 // number of the first entry about a file that they have not dealt with
	Switches  uint64 // of the first entry about a set that they have not looked at all files of; not beyond Arrivals
	AfterName string // files of that set up to this one, by name and id, are done; "": none
	AfterID   ID
}

// Day is a day in UTC, counted from 1970-01-01.
type Day int32

// Day returns the day of the stamp.
func (s Stamp) Day() Day {
	return Day(s.Millis() / (24 * 60 * 60 * 1000))
}

// Cascade is a deletion or restoration of a container that is under way: the container has changed,
// the objects in it follow in batches, each of which is one bounded commit.
type Cascade struct {
	Container   ID
	DataspaceID ID     // the container's own id when it is a dataspace
	Restore     bool   // else a deletion
	By          ID     // the user who asked for it
	Deletion    Stamp  // the stamp of the container's deletion, which the objects deleted with it carry in TakenBy
	Begun       Stamp  // the stamp of the container's last change
	AfterSet    ID     // restoration: sets up to here are done
	AfterStamp  Stamp  // restoration: resources deleted up to here are done
	Entry       uint64 // number of the entry of the audit log about the container's last change; 0: none
}

// OfDataspace tells whether the container is a dataspace; otherwise it is a set.
func (s Cascade) OfDataspace() bool {
	return s.Container == s.DataspaceID
}
