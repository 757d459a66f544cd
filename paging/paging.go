// Package paging turns the query parameters of a listing into a typed Selection, a Selection into a
// Query, and a Query into an opaque page token and back. Its functions are pure: they use neither
// HTTP nor the store, and do not look up ids.
package paging

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// Bounds of a Query.
const (
	// MaxLimit is the largest page size, in objects; the smallest is 1.
	MaxLimit = 1000
	// MaxName is the longest Name, NamePrefix or Position.Name, in bytes.
	MaxName = 4096
	// MaxContainerName is the longest Name in a listing of sets or dataspaces,
	// in bytes.
	MaxContainerName = 100
	// MaxOrigin is the longest Origin, in characters (code points).
	MaxOrigin = 500
	// MaxAction is the longest Action, in bytes.
	MaxAction = 64
	// MaxText is the longest Text, in bytes.
	MaxText = 500
)

// ErrQuery marks a Query that breaks the rules of its fields. Complete and Encode return it for
// errors of the calling code, never for errors of a client.
var ErrQuery = errors.New("paging: invalid query")

// Error names the invalid query parameter and the accepted values.
type Error struct {
	// Field is the name of the parameter, cut to 64 characters if the client
	// made it up; empty when ParseInstant was called directly.
	Field string
	// Message states the rule. It quotes only the client's own input.
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Listing identifies a listing path. The numbers are part of every token.
type Listing uint8

// The listings, by path. Those with an id in the path need Query.Parent.
const (
	Dataspaces         Listing = 1  // /dataspaces
	Sets               Listing = 2  // /sets
	DataspaceSets      Listing = 3  // /dataspaces/{id}/sets
	Resources          Listing = 4  // /resources
	DataspaceResources Listing = 5  // /dataspaces/{id}/resources
	SetResources       Listing = 6  // /sets/{id}/resources
	Users              Listing = 7  // /users
	UserKeys           Listing = 8  // /users/{id}/keys
	Privileges         Listing = 9  // /privileges
	ResourceVersions   Listing = 10 // /resources/{id}/versions
	AuditEntries       Listing = 11 // /audit
	ResourceHistory    Listing = 12 // /resources/{id}/history
	SetHistory         Listing = 13 // /sets/{id}/history
	DataspaceHistory   Listing = 14 // /dataspaces/{id}/history
	Search             Listing = 15 // /search
	Links              Listing = 16 // /links
)

// States is a set of states, as bits. The numbers are part of every token.
type States uint8

// The states that a listing can select.
const (
	Active  States = 1
	Deleted States = 2
	All            = Active | Deleted
)

// Order is the order of a listing. The numbers are part of every token.
type Order uint8

// The orders. Resource listings are Oldest by default, the search is ByRelevance, most others are
// ByID.
const (
	ByID        Order = 0 // by id, which is the order of creation
	Oldest      Order = 1 // by stamp of last modification, then id
	Newest      Order = 2 // Oldest, descending; by number for versions and entries
	ByName      Order = 3 // by the bytes of the name, then id; for the search by the folded name
	ByRelevance Order = 4 // by score, highest first, then Newest
	ByNameDown  Order = 5 // ByName, descending
)

// ByNames reports whether an order is by name, in either direction.
func (o Order) ByNames() bool { return o == ByName || o == ByNameDown }

// Position is the start of a page: just after the object that it describes, in the order of the
// query. The zero Position is the start of the listing. ByID uses ID; Oldest and Newest use Stamp
// and ID; ByName and ByNameDown use Name and ID; ByRelevance uses Score, Stamp and ID. Fields that
// the order does not use are zero. With Query.Folders a Name with a zero ID is a folder: the page
// starts after the content of the folder.
type Position struct {
	Score uint32
	Stamp int64 // microseconds since 1970, not negative; for a version its number, for an entry its number + 1
	ID    ulid.ULID
	Name  string // up to MaxName bytes; matches the query's Name or NamePrefix
}

// Bound is one end of a window of stamps; it applies if Set.
type Bound struct {
	At  int64 // microseconds since 1970, not negative; zero when not Set
	Set bool
}

// Query describes a page of a listing: container, filters, order, page size and position.
type Query struct {
	Listing Listing
	// Parent is the container in the path of the listing; zero without one.
	Parent ulid.ULID

	// Filters given by id; zero means no filter.
	Dataspace, Set, User ulid.ULID

	Selection // with all defaults

	After Position
}

// IDs are the filters by id, as a client sends them; "" means no filter.
type IDs struct{ DataspaceID, SetID, UserID string }

// Selection describes what a listing contains: filters, order and page size. A zero field means the
// default of the listing. A filter that the Listing does not accept is zero.
type Selection struct {
	States States
	Order  Order
	Limit  int // objects per page, 1 to MaxLimit

	// Since and Until bound the stamp, both exclusive: Since.At < stamp and
	// stamp < Until.At. Never set together with an order by name.
	Since, Until Bound

	Visibility string  // "private", "public", "open", or "" for all
	Origin     *string // nil: no filter; "": objects without an origin

	// Name (exact) and NamePrefix are 1 to MaxName bytes and need ByName; at
	// most one is given. In a listing of sets or dataspaces, which is ByID,
	// Name is up to MaxContainerName bytes. Nil and "" mean no filter.
	Name       *string
	NamePrefix string

	// Folders selects the direct content of NamePrefix: resources without a slash in the rest of
	// their name, and the folders of the others, up to that slash. It requires an order by name,
	// and no Name.
	Folders bool

	// Descriptive requests the descriptive metadata of each object.
	Descriptive bool

	// Object and Action filter entries of the audit log; zero and "" mean no filter. An action has
	// up to MaxAction bytes.
	Object ulid.ULID
	Action string

	// Text is a search query of up to MaxText bytes of UTF-8; "" finds everything. Counts requests
	// the number of hits.
	Text   string
	Counts bool
}

// part is a set of the optional parts of a query. Tokens of version 1 contain the lower 16 bits,
// tokens of version 2 the bits up to partState, so their positions never change.
type part uint32

const (
	partParent part = 1 << iota
	partDataspace
	partSet
	partUser
	partSince
	partUntil
	partVisibility
	partOrigin
	partName
	partNamePrefix
	partAfter
	partFields
	partText
	partCounts
	partObject
	partAction
	partFolders // the first part that tokens of version 1 cannot contain
	// The following parts are always in a token, so they need no bit.
	partState
	partOrder
	partLimit
)

// rule describes the parameters that one listing accepts.
type rule struct {
	accepts part
	parent  part    // partParent, or zero
	states  States  // default
	orders  []Order // the first is the default
}

var (
	byID    = []Order{ByID}
	byStamp = []Order{Oldest, Newest}
	newest  = []Order{Newest}
)

const partsByStamp = partState | partSince | partUntil | partOrder | partLimit | partFields

var rules = [...]rule{
	Dataspaces:         {partState | partVisibility | partOrigin | partName | partLimit | partFields, 0, Active, byID},
	Sets:               {partDataspace | partState | partName | partLimit | partFields, 0, Active, byID},
	DataspaceSets:      {partState | partName | partLimit | partFields, partParent, Active, byID},
	Resources:          {partsByStamp | partDataspace | partSet, 0, Active, byStamp},
	DataspaceResources: {partsByStamp, partParent, Active, byStamp},
	SetResources: {
		partsByStamp | partName | partNamePrefix | partFolders, partParent, Active, []Order{Oldest, Newest, ByName, ByNameDown},
	},
	Users:      {partState | partLimit, 0, Active, byID},
	UserKeys:   {partLimit, partParent, All, byID},
	Privileges: {partUser | partDataspace | partState | partLimit, 0, Active, byID},
	Links:      {partUser | partDataspace | partSet | partState | partLimit, 0, Active, byID},

	ResourceVersions: {partLimit, partParent, All, newest},

	AuditEntries:     {partUser | partObject | partAction | partSince | partUntil | partOrder | partLimit, 0, All, []Order{Newest, Oldest}},
	ResourceHistory:  {partLimit, partParent, All, newest},
	SetHistory:       {partLimit, partParent, All, newest},
	DataspaceHistory: {partLimit, partParent, All, newest},

	Search: {partText | partCounts | partOrder | partLimit | partFields, 0, Active, []Order{ByRelevance, Newest, Oldest, ByName}},
}

// rule returns the rule of a listing. For an invalid number it returns a rule without orders, which
// no query satisfies.
func (l Listing) rule() rule {
	if int(l) >= len(rules) {
		return rule{}
	}
	return rules[l]
}

// parts returns the optional parts of a query.
func (q *Query) parts() part {
	var none ulid.ULID
	var p part
	for _, has := range [...]struct {
		part part
		is   bool
	}{
		{partParent, q.Parent != none},
		{partDataspace, q.Dataspace != none},
		{partSet, q.Set != none},
		{partUser, q.User != none},
		{partSince, q.Since.Set},
		{partUntil, q.Until.Set},
		{partVisibility, q.Visibility != ""},
		{partOrigin, q.Origin != nil},
		{partName, q.Name != nil},
		{partNamePrefix, q.NamePrefix != ""},
		{partAfter, q.After != Position{}},
		{partFields, q.Descriptive},
		{partText, q.Text != ""},
		{partCounts, q.Counts},
		{partObject, q.Object != none},
		{partAction, q.Action != ""},
		{partFolders, q.Folders},
	} {
		if has.is {
			p |= has.part
		}
	}
	return p
}

// check returns an ErrQuery for the first rule that the query breaks.
func (q *Query) check() error {
	r, have := q.Listing.rule(), q.parts()
	switch {
	case !slices.Contains(r.orders, q.Order):
		return fmt.Errorf("%w: listing %d in order %d", ErrQuery, q.Listing, q.Order)
	case have&partParent != r.parent:
		return fmt.Errorf("%w: listing %d with parent %v", ErrQuery, q.Listing, q.Parent)
	case have&^(r.accepts|partParent|partAfter) != 0:
		return fmt.Errorf("%w: a filter that listing %d does not accept", ErrQuery, q.Listing)
	case q.States == 0 || q.States > All || r.accepts&partState == 0 && q.States != r.states:
		return fmt.Errorf("%w: states %d", ErrQuery, q.States)
	case q.Limit < 1 || q.Limit > MaxLimit:
		return fmt.Errorf("%w: limit %d", ErrQuery, q.Limit)
	case !q.Since.valid() || !q.Until.valid() || q.Order.ByNames() && have&(partSince|partUntil) != 0:
		return fmt.Errorf("%w: bound of stamps", ErrQuery)
	case q.Visibility != "" && !slices.Contains(visibilities[:], q.Visibility):
		return fmt.Errorf("%w: visibility %q", ErrQuery, q.Visibility)
	case q.Origin != nil && utf8.RuneCountInString(*q.Origin) > MaxOrigin:
		return fmt.Errorf("%w: origin too long", ErrQuery)
	case len(q.Action) > MaxAction:
		return fmt.Errorf("%w: action too long", ErrQuery)
	case len(q.Text) > MaxText || !utf8.ValidString(q.Text):
		return fmt.Errorf("%w: text", ErrQuery)
	case q.Folders && (!q.Order.ByNames() || q.Name != nil):
		return fmt.Errorf("%w: folders in order %d", ErrQuery, q.Order)
	case have&(partName|partNamePrefix) != 0 && !q.validName():
		return fmt.Errorf("%w: name", ErrQuery)
	case have&partAfter != 0 && !q.validAfter():
		return fmt.Errorf("%w: position", ErrQuery)
	}
	return nil
}

func (b Bound) valid() bool { return b.At >= 0 && (b.Set || b.At == 0) }

func (q *Query) validName() bool {
	if !q.Listing.filtersNames(q.Order) || q.Name != nil && q.NamePrefix != "" {
		return false
	}
	n := len(q.nameBase())
	return 1 <= n && n <= q.Listing.maxName()
}

// filtersNames reports whether a listing in an order can be filtered by name.
func (l Listing) filtersNames(o Order) bool {
	return o == l.orderOfNames() || l.orderOfNames() == ByName && o == ByNameDown
}

// orderOfNames returns the order of a listing that is filtered by name: unique names need no
// sorting.
func (l Listing) orderOfNames() Order {
	if slices.Contains(l.rule().orders, ByName) {
		return ByName
	}
	return ByID
}

func (l Listing) maxName() int {
	if l.orderOfNames() == ByName {
		return MaxName
	}
	return MaxContainerName
}

func (q *Query) validAfter() bool {
	if q.Order != ByRelevance && q.After.Score != 0 {
		return false
	}
	switch q.Order {
	case ByID:
		return q.After.Stamp == 0 && q.After.Name == ""
	case ByName, ByNameDown:
		return q.After.Stamp == 0 && len(q.After.Name) <= MaxName &&
			strings.HasPrefix(q.After.Name, q.nameBase()) &&
			(q.Name == nil || q.After.Name == *q.Name)
	default:
		return q.After.Stamp >= 0 && q.After.Name == ""
	}
}

// nameBase returns the common prefix of all names of the listing.
func (q *Query) nameBase() string {
	if q.Name != nil {
		return *q.Name
	}
	return q.NamePrefix
}
