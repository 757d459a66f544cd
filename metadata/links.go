package metadata

import (
	"iter"

	"labshelf/auth"
)

// LinkKind is what a link is for. The numbers are stored: they never change.
type LinkKind uint8

// The kinds.
const (
	ShareLink   LinkKind = 1 // shows files
	RequestLink LinkKind = 2 // receives files
	Invitation  LinkKind = 3 // makes a user, or gives one a role
)

// linkKinds are the words of the interface.
var linkKinds = [...]string{ShareLink: "share", RequestLink: "request", Invitation: "invitation"}

// String returns the kind as the interface writes it.
func (k LinkKind) String() string {
	if int(k) >= len(linkKinds) {
		return ""
	}
	return linkKinds[k]
}

// ParseLinkKind reads a word of the interface.
func ParseLinkKind(word string) (LinkKind, bool) {
	for kind := ShareLink; int(kind) < len(linkKinds); kind++ {
		if linkKinds[kind] == word {
			return kind, true
		}
	}
	return 0, false
}

// Link is a secret address by which people without an account get or give files. What it lets them
// do is bounded by what its owner may do at that moment. The token is not stored, only its digest.
type Link struct {
	Record               // a Deleted one is revoked, for good
	OwnerID           ID // the user whose rights it has: its maker, or who took it over
	Kind              LinkKind
	DataspaceID       ID     // of an invitation by a sysadmin perhaps zero
	SetID             ID     // zero in an invitation
	Folder            string // of a share: the folder of the set, with a slash at its end; "": the whole set, or Files
	Files             string // of a share: the ids of the resources that it shows, 16 bytes each; "": Folder
	Version           uint32 // of a share of one file: the version that it shows, from 1 on; 0: the present one
	Digest            auth.LinkDigest
	Password          string // its hash; "": none is asked for
	Label             string
	Expires           Stamp     // by the clock; 0: never
	MaxUses           uint32    // downloads, files received, or users; 0: any number
	HidesPeople       bool      // of a share: names of people and of what is around are not shown
	MaxBytes, MaxFile int64     // of a request: of all files, and of each; 0: any number
	Types             string    // of a request: media types and extensions, with a space between; "": all
	Role              auth.Role // of an invitation
	Entry             uint64    // as in Dataspace
	MadeWith          ID        // key of the owner that made it or took it over, with which it ends; zero: it ends by itself
}

// FileIDs returns the resources that a share of files shows, in its order.
func (l Link) FileIDs() []ID {
	ids := make([]ID, 0, len(l.Files)/len(ID{}))
	for rest := l.Files; len(rest) >= len(ID{}); rest = rest[len(ID{}):] {
		ids = append(ids, ID([]byte(rest[:len(ID{})])))
	}
	return ids
}

// LinkState of a link at a moment.
type LinkState string

// The states of a link.
const (
	LinkActive  LinkState = "active"
	LinkExpired LinkState = "expired"
	LinkRevoked LinkState = "revoked"
	LinkUsedUp  LinkState = "used_up"
)

// StateAt returns the state of the link at now, after these uses.
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

// LinkUse is what has come of a link. A row of its own, without a stamp, so that a use is no change
// of the link.
type LinkUse struct {
	LinkID ID
	Count  uint64 // downloads, files received, or users
	Bytes  int64  // received
	Last   Stamp  // by the clock
}

// Links is the table of links, revoked ones included.
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

// LinkRange selects links.
type LinkRange struct {
	Dataspace ID // the links of this one, if not zero; else
	Owner     ID // of this user, if not zero; else every one
	After     ID // exclusive
}
