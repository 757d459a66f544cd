package paging_test

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"labshelf/paging"
)

var (
	id1 = ulid.MustParse("01ARZ3NDEKTSV4RRFFQ69G5FAV")
	id2 = ulid.MustParse("01BX5ZZKBKACTAV9WEVGEMMVRZ")
	id3 = ulid.MustParse("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
)

// accepted contains the parameters of each listing, as the OpenAPI document lists them.
var accepted = map[paging.Listing]string{
	paging.Dataspaces:         "fields limit name origin state visibility",
	paging.Sets:               "dataspaceId fields limit name state",
	paging.DataspaceSets:      "fields limit name state",
	paging.Resources:          "dataspaceId fields limit order setId since state until",
	paging.DataspaceResources: "fields limit order since state until",
	paging.SetResources:       "delimiter fields limit name namePrefix order since state until",
	paging.Users:              "limit state",
	paging.UserKeys:           "limit",
	paging.Privileges:         "dataspaceId limit state userId",
	paging.Links:              "dataspaceId limit setId state userId",
	paging.ResourceVersions:   "limit",
	paging.AuditEntries:       "action limit objectId order since until userId",
	paging.ResourceHistory:    "limit",
	paging.SetHistory:         "limit",
	paging.DataspaceHistory:   "limit",
	paging.Search:             "counts fields limit order q",
}

// parse parses and completes a query.
func parse(q paging.Query, params map[string][]string, defaultLimit int) (paging.Query, error) {
	ids, selection, err := paging.Parse(q.Listing, params)
	if err != nil {
		return paging.Query{}, err
	}
	return paging.Complete(q, ids, selection, defaultLimit)
}

// start returns the query that a caller passes to Complete, with every id resolved.
func start(l paging.Listing) paging.Query {
	q := paging.Query{Listing: l}
	switch l {
	case paging.DataspaceSets, paging.DataspaceResources, paging.SetResources, paging.UserKeys, paging.ResourceVersions,
		paging.ResourceHistory, paging.SetHistory, paging.DataspaceHistory:
		q.Parent = id1
	case paging.Sets:
		q.Dataspace = id2
	case paging.Resources:
		q.Dataspace, q.Set = id2, id3
	case paging.AuditEntries:
		q.User = id3
	case paging.Privileges:
		q.Dataspace, q.User = id2, id3
	case paging.Links:
		q.Dataspace, q.Set, q.User = id2, id3, id3
	}
	return q
}

func TestErrorsNameWhatIsAccepted(t *testing.T) {
	t.Parallel()
	for l := range paging.Listing(20) {
		if got := strings.Join(paging.Accepted(l), " "); got != accepted[l] {
			t.Errorf("Accepted(%d) = %q, want %q", l, got, accepted[l])
		}
	}
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	for l := range accepted {
		q := start(l)
		want := q
		want.States, want.Limit = paging.Active, 77
		switch l {
		case paging.UserKeys:
			want.States = paging.All
		case paging.ResourceVersions, paging.AuditEntries, paging.ResourceHistory, paging.SetHistory, paging.DataspaceHistory:
			want.States, want.Order = paging.All, paging.Newest
		case paging.Resources, paging.DataspaceResources, paging.SetResources:
			want.Order = paging.Oldest
		case paging.Search:
			want.Order = paging.ByRelevance
		}
		q.Limit, q.NamePrefix, q.After.Stamp = 5000, "of no account", 9
		got, err := parse(q, nil, 77)
		if err != nil || got != want {
			t.Errorf("Parse(listing %d) = %+v, %v; want %+v", l, got, err, want)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	t.Parallel()
	long, origin := strings.Repeat("n", 4096), strings.Repeat("𝄞", 500)
	for _, c := range []struct {
		listing paging.Listing
		params  string
		set     func(*paging.Query)
	}{
		{paging.Resources, "state=DELETED", func(q *paging.Query) { q.States = paging.Deleted }},
		{paging.Search, "q=salt%20%E6%9D%B1&counts=true&order=name", func(q *paging.Query) { q.Text, q.Counts, q.Order = "salt 東", true, paging.ByName }},
		{paging.Search, "counts=false&fields=metadata", func(q *paging.Query) { q.Descriptive = true }},
		{paging.Users, "state=All", func(q *paging.Query) { q.States = paging.All }},
		{paging.Sets, "state=active&dataspaceId=x", func(q *paging.Query) {}},
		{paging.Dataspaces, "visibility=Private", func(q *paging.Query) { q.Visibility = "private" }},
		{paging.Dataspaces, "visibility=PUBLIC", func(q *paging.Query) { q.Visibility = "public" }},
		{paging.Dataspaces, "visibility=oPEN", func(q *paging.Query) { q.Visibility = "open" }},
		{paging.Dataspaces, "visibility=aLL", func(q *paging.Query) {}},
		{paging.Dataspaces, "origin=", func(q *paging.Query) { q.Origin = new("") }},
		{paging.Dataspaces, "origin=" + url.QueryEscape(origin), func(q *paging.Query) { q.Origin = &origin }},
		{paging.UserKeys, "limit=1", func(q *paging.Query) { q.Limit = 1 }},
		{paging.Privileges, "limit=1000&userId=me&dataspaceId=y", func(q *paging.Query) { q.Limit = 1000 }},
		{paging.Resources, "limit=0042&setId=a&dataspaceId=b", func(q *paging.Query) { q.Limit = 42 }},
		{paging.Resources, "fields=metadata", func(q *paging.Query) { q.Descriptive = true }},
		{paging.Sets, "fields=metadata&dataspaceId=x", func(q *paging.Query) { q.Descriptive = true }},
		{paging.Resources, "order=oldest", func(q *paging.Query) {}},
		{paging.DataspaceResources, "order=newest&since=1970", func(q *paging.Query) {
			q.Order, q.Since.Set = paging.Newest, true
		}},
		{paging.SetResources, "since=2015-03-30T18:09:44.0000015+02:00&until=1999", func(q *paging.Query) {
			q.Since, q.Until = paging.Bound{At: sample + 1, Set: true}, paging.Bound{At: 915148800 * 1e6, Set: true}
		}},
		{paging.SetResources, "until=2015-03-30T16:09:44.0000015", func(q *paging.Query) {
			q.Until = paging.Bound{At: sample + 2, Set: true}
		}},
		{paging.SetResources, "order=name", func(q *paging.Query) { q.Order = paging.ByName }},
		{paging.SetResources, "name=a%2Fb", func(q *paging.Query) { q.Order, q.Name = paging.ByName, new("a/b") }},
		{paging.SetResources, "order=name&name=" + long, func(q *paging.Query) { q.Order, q.Name = paging.ByName, &long }},
		{paging.SetResources, "namePrefix=%C3%A9&state=all", func(q *paging.Query) {
			q.Order, q.NamePrefix, q.States = paging.ByName, "é", paging.All
		}},
		{paging.SetResources, "order=name-descending", func(q *paging.Query) { q.Order = paging.ByNameDown }},
		{paging.SetResources, "delimiter=/", func(q *paging.Query) { q.Order, q.Folders = paging.ByName, true }},
		{paging.SetResources, "delimiter=%2F&order=name-descending&namePrefix=a/&state=deleted", func(q *paging.Query) {
			q.Order, q.Folders, q.NamePrefix, q.States = paging.ByNameDown, true, "a/", paging.Deleted
		}},
		{paging.SetResources, "namePrefix=" + long, func(q *paging.Query) { q.Order, q.NamePrefix = paging.ByName, long }},
	} {
		params, err := url.ParseQuery(strings.ReplaceAll(c.params, "+", "%2B"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := parse(start(c.listing), nil, 100)
		if err != nil {
			t.Fatal(err)
		}
		c.set(&want)
		got, err := parse(start(c.listing), params, 100)
		if err != nil {
			t.Errorf("listing %d, %.60s: %v", c.listing, c.params, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("listing %d, %.60s: %s", c.listing, c.params, diff)
		}
	}
}

// refusal is a query string and its error: the parameter, and two parts of the message.
type refusal struct {
	listing            paging.Listing
	params, field      string
	message, andListed string
}

func TestParseRefusesParameters(t *testing.T) {
	t.Parallel()
	const r, s, d = paging.Resources, paging.SetResources, paging.Dataspaces
	for _, c := range []refusal{
		{r, "name=x", "name", `"name"`, "accepted: dataspaceId, fields, limit, order, setId, since, state, until"},
		{paging.DataspaceResources, "dataspaceId=x", "dataspaceId", "unknown here", "accepted: fields, limit, order, since, state, until"},
		{r, "fields=name", "fields", "", "metadata, for"},
		{r, "fields=metadata,metadata", "fields", "", "metadata, for"},
		{paging.Users, "fields=metadata", "fields", "unknown here", "accepted: limit, state"},
		{paging.Users, "since=2015", "since", "unknown here", "accepted: limit, state"},
		{paging.UserKeys, "state=all", "state", "unknown here", "accepted: limit"},
		{r, "State=all", "State", "unknown here", ""},
		{r, "=x", "", "unknown here", ""},
		{r, "%00" + strings.Repeat("x", 999) + "=1", "\x00" + strings.Repeat("x", 63), `\x00x`, ""},
		{r, "state=all&state=all", "state", "more than once", "active, deleted or all"},
		{d, "origin=&origin=", "origin", "more than once", "500"},
		{r, "setId=a&setId=b", "setId", "more than once", "id of one set"},
		{r, "dataspaceId=", "dataspaceId", "is empty", "id of one dataspace"},
		{r, "since=", "since", "is empty", "2015-03"},
		{s, "namePrefix=", "namePrefix", "is empty", "4096"},
		{d, "visibility=", "visibility", "is empty", "private, public, open or all"},
		{r, "limit", "limit", "is empty", "1 to 1000"},
		{r, "zzz=1&limit=0&since=x", "limit", "", "1 to 1000"},
	} {
		c.check(t)
	}
}

func TestParseRefusesValues(t *testing.T) {
	t.Parallel()
	const r, s, d = paging.Resources, paging.SetResources, paging.Dataspaces
	for _, c := range []refusal{
		{r, "limit=0", "limit", `"0"`, "1 to 1000"},
		{paging.Search, "counts=yes", "counts", `"yes"`, "true or false"},
		{paging.Search, "q=%ff", "q", "is", "500 bytes of UTF-8"},
		{paging.Search, "q=" + strings.Repeat("n", 501), "q", "is", "500 bytes of UTF-8"},
		{r, "limit=1001", "limit", `"1001"`, "1 to 1000"},
		{r, "limit=%2B5", "limit", `"+5"`, ""},
		{r, "limit=-5", "limit", `"-5"`, ""},
		{r, "limit=1e2", "limit", `"1e2"`, ""},
		{r, "limit=1_0", "limit", `"1_0"`, ""},
		{r, "limit=0x10", "limit", `"0x10"`, ""},
		{r, "limit=99999999999999999999999", "limit", `"999`, ""},
		{r, "limit=%D9%A5", "limit", "is", ""},
		{r, "state=gone", "state", `"gone"`, "active, deleted or all"},
		{r, "state=act%C4%B0ve", "state", "actİve", ""},
		{d, "visibility=secret", "visibility", `"secret"`, "private, public, open or all"},
		{r, "order=name", "order", `"name"`, "oldest or newest"},
		{r, "order=Newest", "order", `"Newest"`, "oldest or newest"},
		{s, "order=id", "order", `"id"`, "name"},
		{s, "delimiter=-", "delimiter", `"-"`, "/, for folders"},
		{s, "delimiter=//", "delimiter", `"//"`, "/, for folders"},
		{s, "delimiter=", "delimiter", "is empty", "/, for folders"},
		{r, "delimiter=/", "delimiter", "unknown here", "setId"},
		{s, "delimiter=/&name=a", "delimiter", "name are given", "one of the two"},
		{s, "delimiter=/&since=2015", "since", "order=name", "delimiter"},
		{s, "delimiter=/&until=2015", "until", "order=name", "delimiter"},
		{s, "delimiter=/&order=newest", "order", "order=name", "delimiter"},
		{s, "order=name-descending&since=2015", "since", "order=name", "without"},
		{r, "since=yesterday", "since", `"yesterday"`, "2015-03-30T18:09:44+02:00"},
		{r, "until=2015-13", "until", `"2015-13"`, "2015-03-30T18:09:44+02:00"},
		{d, "origin=" + strings.Repeat("x", 501), "origin", "500", ""},
		{d, "origin=%FF", "origin", `\xff`, "UTF-8"},
		{s, "name=%FF", "name", `\xff`, "UTF-8"},
		{s, "name=a%00", "name", `\x00`, "NUL"},
		{s, "namePrefix=%C3", "namePrefix", `\xc3`, "UTF-8"},
		{s, "name=" + strings.Repeat("x", 4097), "name", "4096", ""},
		{s, "namePrefix=" + strings.Repeat("x", 4097), "namePrefix", "4096", ""},
		{s, "name=x&namePrefix=x", "namePrefix", "name are given", "one of the two"},
		{s, "name=x&since=2015", "since", "listing by name", "order=name"},
		{s, "namePrefix=x&until=2015", "until", "listing by name", "order=name"},
		{s, "order=name&until=2015", "until", "listing by name", "order=name"},
		{s, "name=x&order=oldest", "order", "another order", ""},
		{s, "namePrefix=x&order=newest", "order", "another order", ""},
	} {
		c.check(t)
	}
}

func (c refusal) check(t *testing.T) {
	t.Helper()
	params, err := url.ParseQuery(c.params)
	if err != nil {
		t.Fatal(err)
	}
	got, err := parse(start(c.listing), params, 100)
	var refused *paging.Error
	if !errors.As(err, &refused) || got != (paging.Query{}) {
		t.Errorf("listing %d, %.60s: %+v, %v; want only an *Error", c.listing, c.params, got, err)
		return
	}
	if refused.Field != c.field || err.Error() != refused.Message || !strings.Contains(refused.Message, c.message) ||
		!strings.Contains(refused.Message, c.andListed) || len(refused.Message) > 900 {
		t.Errorf("listing %d, %.60s: field %q, message %q", c.listing, c.params, refused.Field, refused.Message)
	}
}

func TestParseRefusesInvalidCalls(t *testing.T) {
	t.Parallel()
	ids := url.Values{"dataspaceId": {"x"}, "setId": {"y"}}
	for name, c := range map[string]struct {
		q      paging.Query
		params url.Values
		limit  int
	}{
		"no listing":       {paging.Query{}, nil, 100},
		"unknown listing":  {paging.Query{Listing: 10}, nil, 100},
		"parent missing":   {paging.Query{Listing: paging.SetResources}, nil, 100},
		"parent too many":  {paging.Query{Listing: paging.Users, Parent: id1}, nil, 100},
		"limit 0":          {start(paging.Users), nil, 0},
		"limit 1001":       {start(paging.Users), nil, 1001},
		"ids unresolved":   {paging.Query{Listing: paging.Resources}, ids, 100},
		"set unresolved":   {paging.Query{Listing: paging.Resources, Dataspace: id1}, ids, 100},
		"filter not taken": {paging.Query{Listing: paging.Users, Dataspace: id1}, nil, 100},
	} {
		if got, err := parse(c.q, c.params, c.limit); !errors.Is(err, paging.ErrQuery) || got != (paging.Query{}) {
			t.Errorf("%s: %+v, %v; want ErrQuery", name, got, err)
		}
	}
}

func TestParseIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		params url.Values
		value  string
		ok     bool
	}{
		{nil, "", true},
		{url.Values{"dataspaceId": {"x"}}, "", true},
		{url.Values{"setId": {"x"}}, "x", true},
		{url.Values{"setId": {"x"}, "limit": {"0"}, "unknown": {"y"}}, "x", false},
		{url.Values{"setId": {""}}, "", false},
		{url.Values{"setId": {}}, "", false},
		{url.Values{"setId": {"x", "x"}}, "", false},
		{url.Values{"setId": {"x", "x"}, "limit": {"0"}}, "", false},
	} {
		ids, selection, err := paging.Parse(paging.Resources, c.params)
		var refused *paging.Error
		if ids.SetID != c.value || (err == nil) != c.ok || selection != (paging.Selection{}) {
			t.Errorf("Parse(%v) = %+v, %+v, %v", c.params, ids, selection, err)
		}
		if !c.ok && (!errors.As(err, &refused) || refused.Field != "setId" && c.value == "") {
			t.Errorf("Parse(%v): %v", c.params, err)
		}
	}
}

// FuzzParse checks that every query string gives a query that survives a token unchanged, or an
// error that names one of its parameters and lists the accepted values.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "state=all&since=2015-03-30T16:09:44.0000001+02&until=2016", "order=name", "name=a%2Fb&limit=7",
		"namePrefix=%C3%A9", "origin=&visibility=ALL", "dataspaceId=1&setId=2", "userId=me", "limit=1&limit=2", "x=%00",
	} {
		for l := range accepted {
			f.Add(uint8(l), seed)
		}
	}
	codec := paging.NewCodec(secret)
	f.Fuzz(func(t *testing.T, listing uint8, query string) {
		params, err := url.ParseQuery(query)
		q := start(paging.Listing(listing))
		if err != nil || accepted[q.Listing] == "" {
			return
		}
		got, err := parse(q, params, 100)
		if err == nil {
			roundTrip(t, codec, got)
			return
		}
		var refused *paging.Error
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, "accepted: ") {
			t.Fatalf("listing %d, %q: %v", listing, query, err)
		}
		if !slices.ContainsFunc(keys(params), func(name string) bool { return strings.HasPrefix(name, refused.Field) }) {
			t.Fatalf("listing %d, %q: the named parameter is %q", listing, query, refused.Field)
		}
	})
}
