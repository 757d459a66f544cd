package metadata

import (
	"iter"

	"labshelf/auth"
)

// LinkKind is the purpose of a link. The numbers are stored and never change.
type LinkKind uint8

// The kinds of links.
const (
	ShareLink   LinkKind = 1 // shows files
	RequestLink LinkKind = 2 // receives files
	Invitation  LinkKind = 3 // creates a user or gives a user a role
)

// linkKinds are the names of the kinds in the API.
var linkKinds = [...]string{ShareLink: "share", RequestLink: "request", Invitation: "invitation"}

// String returns the name of the kind in the API.
func (k LinkKind) String() string {
	if int(k) >= len(linkKinds) {
		return ""
	}
	return linkKinds[k]
}

// ParseLinkKind parses a name of the API.
func ParseLinkKind(word string) (LinkKind, bool) {
	for kind := ShareLink; int(kind) < len(linkKinds); kind++ {
		if linkKinds[kind] == word {
			return kind, true
		}
	}
	return 0, false
}

// Link is a secret address through which people without an account receive or send files. The
// current permissions of its owner limit what it allows. The table stores the digest of the token,
// not the token.
type Link struct {
	Record               // a Deleted link is revoked permanently
	OwnerID           ID // the user whose permissions it has: its creator, or the user who took it over
	Kind              LinkKind
	DataspaceID       ID     // may be zero in an invitation by a sysadmin
	SetID             ID     // zero in an invitation
	Folder            string // share: folder of the set with a trailing slash; "": the whole set, or Files
	Files             string // share: ids of its resources, 16 bytes each; "": Folder
	Version           uint32 // share of one file: its version, from 1; 0: the current version
	Digest            auth.LinkDigest
	Password          string // hash of the password; "": no password
	Label             string
	Expires           Stamp     // by the clock; 0: never
	MaxUses           uint32    // limit for downloads, received files or users; 0: no limit
	HidesPeople       bool      // share: hides the names of people and of the surroundings
	MaxBytes, MaxFile int64     // request: limits for all files and for each; 0: no limit
	Types             string    // request: media types and extensions, separated by spaces; "": all
	Role              auth.Role // invitation
	Entry             uint64    // as in Dataspace
	MadeWith          ID        // the owner's key on which the link depends; zero: none
}

// FileIDs returns the resources of a share of files, in its order.
func (l Link) FileIDs() []ID {
	ids := make([]ID, 0, len(l.Files)/len(ID{}))
	for rest := l.Files; len(rest) >= len(ID{}); rest = rest[len(ID{}):] {
		ids = append(ids, ID([]byte(rest[:len(ID{})])))
	}
	return ids
}

// LinkState is the state of a link at a moment.
type LinkState string

// The states of a link.
const (
	LinkActive  LinkState = "active"
	LinkExpired LinkState = "expired"
	LinkRevoked LinkState = "revoked"
	LinkUsedUp  LinkState = "used_up"
)

// StateAt returns the state of the link at now, with this use.
func (l Link) StateAt(now Stamp, use LinkUse) LinkState {
	switch {
	case l.State == Deleted:
		return LinkRevoked
	case l.Expires != 0 && l.Expires <= now:
		return LinkExpired
	case l.MaxUses != 0 && use.Count >= uint64(l.MaxUses):
		return LinkUsedUp
	}
	return LinkActive
}

// LinkUse counts the uses of a link. It is a separate row without a stamp, so that a use does not
// change the link.
type LinkUse struct {
	LinkID ID
	Count  uint64 // downloads, received files, or users
	Bytes  int64  // bytes received
	Last   Stamp  // by the clock
}

// Links is the table of links, including revoked ones.
type Links interface {
	Table[ID, Link]
	LinkFinders
}

// LinkFinders finds links by digest, by dataspace and by owner.
type LinkFinders interface {
	ByDigest(auth.LinkDigest) (Link, error)
	// Range yields links ascending by id.
	Range(LinkRange) iter.Seq2[Link, error]
}

// LinkRange selects links by dataspace or owner.
type LinkRange struct {
	Dataspace ID // if not zero, links of this dataspace
	Owner     ID // otherwise, if not zero, links of this user; both zero: all links
	After     ID // exclusive
}
