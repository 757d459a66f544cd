package paging

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// parameter is one query parameter. If read refuses a value, the error contains the text in
// accepts.
type parameter struct {
	part    part
	name    string
	accepts string
	read    func(s *Selection, of Listing, value string) bool
}

const (
	nameRule = "1 to 4096 bytes of UTF-8 without NUL, for sets and dataspaces 1 to 100; name and namePrefix cannot be combined"
	dateRule = "a date-time with Z or an offset (2015-03-30T16:09:44.090Z, 2015-03-30T18:09:44+02:00, " +
		"also +0200 or +02), a date-time without a zone, read as UTC (2015-03-30T16:09:44 or 2015-03-30T16:09), " +
		"a date (2015-03-30), a year and month (2015-03) or a year (2015), each meaning its first instant"
)

// parameters is sorted by name.
var parameters = [...]parameter{
	{partAction, "action", "the name of one action, such as resource.create, or its first part and .*", readAction},
	{partCounts, "counts", "true or false", readCounts},
	{partDataspace, "dataspaceId", "the id of one dataspace", nil},
	{partFolders, "delimiter", "/, for folders, in an order by name and without name", readDelimiter},
	{partFields, "fields", "metadata, for the descriptive metadata of each object", readFields},
	{partLimit, "limit", "a whole number from 1 to 1000", readLimit},
	{partName, "name", nameRule, readName},
	{partNamePrefix, "namePrefix", nameRule, readNamePrefix},
	{partObject, "objectId", "the id of one object", readObject},
	{partOrder, "order", "oldest or newest; for the resources of one set also name and name-descending; for a search relevance and name, too", readOrder},
	{partOrigin, "origin", "up to 500 characters of UTF-8; empty for those without an origin", readOrigin},
	{partText, "q", "1 to 500 bytes of UTF-8 in the language of the search", readQueryText},
	{partSet, "setId", "the id of one set", nil},
	{partSince, "since", dateRule, readSince},
	{partState, "state", "active, deleted or all, in any case", readState},
	{partUntil, "until", dateRule, readUntil},
	{partUser, "userId", "the id of one user, or me", nil},
	{partVisibility, "visibility", "private, public, open or all, in any case", readVisibility},
}

var (
	orderWords   = [...]string{Oldest: "oldest", Newest: "newest", ByName: "name", ByRelevance: "relevance", ByNameDown: "name-descending"}
	stateWords   = [...]string{Active: "active", Deleted: "deleted", All: "all"}
	visibilities = [...]string{"private", "public", "open"}
)

// Parse parses the query parameters of a listing. It returns an *Error for the first parameter that
// is unknown to this listing, repeated, empty (except origin) or malformed: first the ids, then all
// others by name. The ids are valid even if another parameter is not. Since can be after Until.
func Parse(l Listing, params map[string][]string) (ids IDs, s Selection, err error) {
	for _, id := range [...]struct {
		name string
		at   *string
	}{{"dataspaceId", &ids.DataspaceID}, {"setId", &ids.SetID}, {"userId", &ids.UserID}} {
		values, sent := params[id.name]
		p, unknown := find(l, id.name)
		if !sent || unknown != nil {
			continue
		}
		if *id.at, err = p.value(values); err != nil {
			return ids, s, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		p, err := find(l, name)
		if err != nil {
			return ids, Selection{}, err
		}
		value, err := p.value(params[name])
		if err != nil {
			return ids, Selection{}, err
		}
		if p.read != nil && !p.read(&s, l, value) {
			return ids, Selection{}, p.refuse(fmt.Sprintf("is %.64q", value))
		}
	}
	return ids, s, nil
}

// Complete returns the query for a selection, with defaults for its zero fields: active (all for
// keys), the listing's own order, and defaultLimit, which is 1 to MaxLimit. It takes Listing,
// Parent and the filters by id, which the caller has resolved from ids, from q. The result can be
// encoded.
//
// It returns an *Error for an invalid combination of filters. It returns ErrQuery if q, another
// field of s or defaultLimit is wrong, or if an id is in ids but not in q.
func Complete(q Query, ids IDs, s Selection, defaultLimit int) (Query, error) {
	r := q.Listing.rule()
	if len(r.orders) == 0 {
		return Query{}, fmt.Errorf("%w: no listing %d", ErrQuery, q.Listing)
	}
	q.Selection, q.After = s, Position{}
	if q.States == 0 {
		q.States = r.states
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if err := q.settleOrder(); err != nil {
		return Query{}, err
	}
	var none ulid.ULID
	if ids.DataspaceID != "" && q.Dataspace == none || ids.SetID != "" && q.Set == none || ids.UserID != "" && q.User == none {
		return Query{}, fmt.Errorf("%w: a filter by id was given but not resolved", ErrQuery)
	}
	if err := q.check(); err != nil {
		return Query{}, err
	}
	return q, nil
}

// settleOrder sets the default order, or the order that a filter by name implies. It refuses
// incompatible filters: the index by name has no stamps.
func (q *Query) settleOrder() error {
	given := q.parts()
	names := given & (partName | partNamePrefix | partFolders)
	if names == 0 && !q.Order.ByNames() {
		if q.Order == 0 {
			q.Order = q.Listing.rule().orders[0]
		}
		return nil
	}
	const alone = "a listing by name cannot be combined with since, until or another order; " +
		"accepted: order=name, name, namePrefix or delimiter without those, or those without it"
	switch {
	case names&partFolders != 0 && names&partName != 0:
		return &Error{"delimiter", "delimiter and name are given; accepted: one of the two"}
	case names == partName|partNamePrefix:
		return &Error{"namePrefix", "namePrefix and name are given; accepted: one of the two"}
	case given&partSince != 0:
		return &Error{"since", alone}
	case given&partUntil != 0:
		return &Error{"until", alone}
	case q.Order != 0 && !q.Order.ByNames():
		return &Error{"order", alone}
	case q.Order == 0:
		q.Order = q.Listing.orderOfNames()
	}
	return nil
}

// Accepted returns the names of the query parameters that a listing accepts, sorted; nil for an
// invalid listing.
func Accepted(l Listing) []string {
	accepts := l.rule().accepts
	var names []string
	for _, p := range parameters {
		if accepts&p.part != 0 {
			names = append(names, p.name)
		}
	}
	return names
}

func find(l Listing, name string) (parameter, error) {
	for _, p := range parameters {
		if p.name == name && l.rule().accepts&p.part != 0 {
			return p, nil
		}
	}
	return parameter{}, &Error{
		Field:   fmt.Sprintf("%.64s", name),
		Message: fmt.Sprintf("query parameter %.64q is unknown here; accepted: %s", name, strings.Join(Accepted(l), ", ")),
	}
}

// value returns the only value of a parameter.
func (p parameter) value(values []string) (string, error) {
	switch {
	case len(values) > 1:
		return "", p.refuse("is given more than once")
	case len(values) == 0 || values[0] == "" && p.part != partOrigin:
		return "", p.refuse("is empty")
	}
	return values[0], nil
}

func (p parameter) refuse(what string) error {
	return &Error{Field: p.name, Message: fmt.Sprintf("%s %s; accepted: %s", p.name, what, p.accepts)}
}

// readAction accepts any word: actions of a later version find nothing.
func readAction(s *Selection, _ Listing, value string) bool {
	s.Action = value
	return len(value) <= MaxAction && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz.*") == ""
}

func readObject(s *Selection, _ Listing, value string) bool {
	id, err := ulid.ParseStrict(value)
	s.Object = id
	return err == nil && id.String() == value && id != ulid.ULID{}
}

func readLimit(s *Selection, _ Listing, value string) bool {
	if strings.Trim(value, "0123456789") != "" {
		return false
	}
	n, err := strconv.Atoi(value)
	s.Limit = n
	return err == nil && 1 <= n && n <= MaxLimit
}

func readCounts(s *Selection, _ Listing, value string) bool {
	s.Counts = value == "true"
	return s.Counts || value == "false"
}

func readQueryText(s *Selection, _ Listing, value string) bool {
	s.Text = value
	return len(value) <= MaxText && utf8.ValidString(value)
}

func readDelimiter(s *Selection, _ Listing, value string) bool {
	s.Folders = value == "/"
	return s.Folders
}

func readFields(s *Selection, _ Listing, value string) bool {
	s.Descriptive = true
	return value == "metadata"
}

// A stored name cannot contain NUL, which ends the name in the index.
func readText(value string) bool {
	return len(value) <= MaxName && utf8.ValidString(value) && !strings.Contains(value, "\x00")
}

func readName(s *Selection, of Listing, value string) bool {
	s.Name = &value
	return readText(value) && len(value) <= of.maxName()
}

func readNamePrefix(s *Selection, _ Listing, value string) bool {
	s.NamePrefix = value
	return readText(value)
}

func readOrder(s *Selection, of Listing, value string) bool {
	s.Order = Order(max(0, slices.Index(orderWords[:], value)))
	return slices.Contains(of.rule().orders, s.Order)
}

func readOrigin(s *Selection, _ Listing, value string) bool {
	s.Origin = &value
	return utf8.ValidString(value) && utf8.RuneCountInString(value) <= MaxOrigin
}

func readSince(s *Selection, _ Listing, value string) bool {
	floor, _, err := ParseInstant(value)
	s.Since = Bound{floor, true}
	return err == nil
}

func readUntil(s *Selection, _ Listing, value string) bool {
	_, ceil, err := ParseInstant(value)
	s.Until = Bound{ceil, true}
	return err == nil
}

func readState(s *Selection, _ Listing, value string) bool {
	i := slices.IndexFunc(stateWords[:], func(word string) bool { return strings.EqualFold(word, value) })
	s.States = States(max(0, i))
	return i > 0
}

func readVisibility(s *Selection, _ Listing, value string) bool {
	if strings.EqualFold(value, "all") {
		return true
	}
	i := slices.IndexFunc(visibilities[:], func(word string) bool { return strings.EqualFold(word, value) })
	if i < 0 {
		return false
	}
	s.Visibility = visibilities[i]
	return true
}
