package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// walk requests all pages of a listing. It returns the objects and the URL of the last page. check
// is called for each page.
func (c *client) walk(path string, check ...func(page *answer)) (items []object, kept string) {
	c.t.Helper()
	for url := path; ; {
		page := c.get(url).want(http.StatusOK)
		o := page.object()
		if o["end"] == true {
			same(c.t, "the last page", string(page.body), "{\n  \"end\": true\n}\n")
			return items, url
		}
		listing, _, _ := strings.Cut(strings.TrimPrefix(url, c.base), "?")
		listing, _, _ = strings.Cut(listing, "/query/results/")
		for _, member := range []string{"nextPage", "currentPage"} {
			if !strings.HasPrefix(o.text(member), c.base+listing+"/query/results/") {
				c.t.Errorf("%s of %s is %s", member, url, o.text(member))
			}
		}
		for _, look := range check {
			look(page)
		}
		items, url = append(items, page.data()...), o.text("nextPage")
	}
}

// expect compares the ids in a listing that no other test changes.
func (c *client) expect(path string, want ...string) string {
	c.t.Helper()
	items, kept := c.walk(path, func(page *answer) {
		again := c.get(page.object().text("currentPage")).want(http.StatusOK)
		same(c.t, "currentPage fetched again", string(again.body), string(page.body))
		c.send("HEAD", page.object().text("nextPage"), nil).want(http.StatusOK)
	})
	if got := ids(items, "id"); !slices.Equal(got, append([]string{}, want...)) {
		c.t.Errorf("%s lists %v, want %v", path, got, want)
	}
	return kept
}

// shelf is a dataspace with two sets. The first set has three resources, of which the second is
// deleted. The second set has one.
type shelf struct {
	*space
	first, second  string   // sets
	a, b, c, other string   // resources: active, deleted, active, active
	order          []string // order of modification: a, c, other, b
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{space: sysadmin(t).newSpace(nil)}
	s.first, s.second = s.newSet(), s.newSet()
	s.a = s.upload(s.first, "b.txt", "1", text("name", "dir/b")).text("id")
	s.b = s.upload(s.first, "a.txt", "2", text("name", "dir/a")).text("id")
	s.c = s.upload(s.first, "c.txt", "3", text("name", "file")).text("id")
	s.other = s.upload(s.second, "d.txt", "4").text("id")
	s.send("DELETE", "/resources/"+s.b, nil).want(http.StatusNoContent)
	s.order = []string{s.a, s.c, s.other, s.b}
	return s
}

func TestResourceListings(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	reader := s.newMember("member")
	within, set := "/dataspaces/"+s.dataspace+"/resources", "/sets/"+s.first+"/resources"
	everywhere := "/resources?dataspaceId=" + s.dataspace
	for path, want := range map[string][]string{
		within:                                   {s.a, s.c, s.other},
		within + "?limit=1":                      {s.a, s.c, s.other},
		within + "?limit=2&state=ALL":            s.order,
		within + "?state=deleted":                {s.b},
		within + "?state=Active":                 {s.a, s.c, s.other},
		within + "?order=newest&state=all":       {s.b, s.other, s.c, s.a},
		within + "?order=oldest":                 {s.a, s.c, s.other},
		within + "?order=newest&limit=1":         {s.other, s.c, s.a},
		set:                                      {s.a, s.c},
		set + "?state=all&limit=1":               {s.a, s.c, s.b},
		set + "?order=name&state=all":            {s.b, s.a, s.c},
		set + "?order=name&state=all&limit=1":    {s.b, s.a, s.c},
		set + "?order=newest":                    {s.c, s.a},
		set + "?namePrefix=dir/":                 {s.a},
		set + "?namePrefix=dir/&state=all":       {s.b, s.a},
		set + "?name=file":                       {s.c},
		set + "?name=file&order=name&limit=1000": {s.c},
		set + "?name=fil":                        {},
		everywhere:                               {s.a, s.c, s.other},
		everywhere + "&state=all&limit=3":        s.order,
		everywhere + "&setId=" + s.second:        {s.other},
		"/resources?setId=" + s.first:            {s.a, s.c},
		within + "?since=2001&until=2002":        {},
		within + "?since=2030&until=2010":        {},
		within + "?since=2001-02-03&limit=2":     {s.a, s.c, s.other},
		within + "?until=2001-02":                {},
		within + "?until=2100-01-01T00:00":       {s.a, s.c, s.other},
	} {
		reader.expect(path, want...)
	}
	slices.Sort(s.order)
	got, _ := reader.walk("/resources?state=all&limit=1000")
	mine := slices.DeleteFunc(got, func(o object) bool { return o.text("dataspaceId") != s.dataspace })
	list := ids(mine, "id")
	slices.Sort(list)
	if !slices.Equal(list, s.order) {
		t.Errorf("the listing of all resources has %v of this dataspace, want %v", list, s.order)
	}
	reader.get("/resources?dataspaceId="+s.newSpace(nil).dataspace+"&setId="+s.first).problem(http.StatusNotFound, "set_not_found", "setId")
	other := s.newSpace(nil).dataspace
	s.get("/resources?dataspaceId="+other+"&setId="+s.first).problem(http.StatusNotFound, "set_not_found", "setId")
}

// TestAdjacentTimeWindows splits a dataspace at the times of its objects. Adjacent
// windows neither lose nor repeat an object.
func TestAdjacentTimeWindows(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	path := "/dataspaces/" + s.dataspace + "/resources?state=all"
	all, _ := s.walk(path)
	for _, cut := range all {
		at := cut.text("modified")
		bare := strings.TrimSuffix(at, "Z")
		for _, bound := range []string{at, bare, bare + "%2B00:00", bare + "+0000", bare + "-00"} {
			before, _ := s.walk(path + "&until=" + bound)
			after, _ := s.walk(path + "&since=" + bound)
			got := append(ids(before, "id"), ids(after, "id")...)
			if !slices.Equal(got, s.order) || slices.Contains(ids(before, "id"), cut.text("id")) {
				t.Errorf("cut at %s: %v and %v", bound, ids(before, "id"), ids(after, "id"))
			}
		}
	}
}

// TestLastPageBringsOnlyChanges tests that the URL of the last page later returns exactly the
// changes made since.
func TestLastPageBringsOnlyChanges(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	harvester := s.newMember("member")
	kept := harvester.expect("/resources?state=all&limit=2&dataspaceId="+s.dataspace, s.order...)
	s.send("PATCH", "/resources/"+s.c, object{"name": "renamed"}).want(http.StatusOK)
	created := s.upload(s.second, "new", "5").text("id")
	s.send("DELETE", "/resources/"+s.a, nil).want(http.StatusNoContent)
	s.send("POST", "/resources/"+s.b+"/restore", nil).want(http.StatusOK)
	s.send("PUT", "/resources/"+s.other, form(file("other", "6"))).want(http.StatusOK)
	kept = harvester.expect(kept, s.c, created, s.a, s.b, s.other)
	kept = harvester.expect(kept)
	s.send("DELETE", "/sets/"+s.first, nil).want(http.StatusNoContent)
	harvester.expect(kept, s.c, s.b)
}

func TestOtherListings(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	member, third := s.newMember("member"), s.newSet()
	s.send("DELETE", "/sets/"+third, nil).want(http.StatusNoContent)
	within := "/dataspaces/" + s.dataspace + "/sets"
	for path, want := range map[string][]string{
		within: {s.first, s.second}, within + "?limit=1": {s.first, s.second},
		within + "?state=all&limit=2": {s.first, s.second, third}, within + "?state=deleted": {third},
		"/sets?dataspaceId=" + s.dataspace: {s.first, s.second}, "/sets?state=all&limit=1&dataspaceId=" + s.dataspace: {s.first, s.second, third},
	} {
		member.expect(path, want...)
	}
	kept := member.expect(within, s.first, s.second)
	member.expect(kept, s.newSet())

	users, _ := s.walk("/users?state=all&limit=1000")
	if list := ids(users, "id"); !slices.Contains(list, member.id) || !slices.IsSorted(list) {
		t.Errorf("users: %v", list)
	}
	member.get("/users?limit=1").want(http.StatusOK)
	user := s.newUser(nil)
	s.send("DELETE", "/users/"+user.id, nil).want(http.StatusNoContent)
	active, _ := member.walk("/users?limit=500")
	deleted, _ := member.walk("/users?state=deleted")
	same(t, "a deleted user among the active", slices.Contains(ids(active, "id"), user.id), false)
	same(t, "a deleted user among the deleted", slices.Contains(ids(deleted, "id"), user.id), true)
}

func TestDataspaceListing(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	origin := c.name("origin")
	private, public := c.newSpace(object{"origin": origin}), c.newSpace(object{"origin": origin, "visibility": "public"})
	open := c.newSpace(object{"origin": origin, "visibility": "Open"})
	deleted := c.newSpace(object{"origin": origin})
	member := private.newMember("member")
	c.send("POST", "/privileges", object{"userId": member.id, "dataspaceId": deleted.dataspace, "role": "member"}).want(http.StatusCreated)
	c.send("DELETE", "/dataspaces/"+deleted.dataspace, nil).want(http.StatusNoContent)
	stranger := c.newUser(nil)
	of := "/dataspaces?origin=" + origin
	for path, want := range map[string][]string{
		of: {private.dataspace, public.dataspace, open.dataspace}, of + "&limit=1": {private.dataspace, public.dataspace, open.dataspace},
		of + "&visibility=PUBLIC": {public.dataspace}, of + "&visibility=private": {private.dataspace},
		of + "&visibility=OPEN":          {open.dataspace},
		of + "&visibility=all&state=all": {private.dataspace, public.dataspace, open.dataspace, deleted.dataspace}, of + "&state=deleted": {deleted.dataspace},
	} {
		c.expect(path, want...)
		member.expect(path, want...)
	}
	stranger.expect(of+"&state=all", public.dataspace, open.dataspace)
	none, _ := member.walk("/dataspaces?origin=")
	same(t, "no origin", slices.Contains(ids(none, "id"), private.dataspace), false)
	all, _ := member.walk("/dataspaces")
	same(t, "any origin", slices.Contains(ids(all, "id"), private.dataspace), true)
}

func TestPrivilegeListing(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	me := s.get("/users/me").object().text("id")
	member, editor, stranger := s.newMember("member"), s.newMember("editor"), s.newUser(nil)
	list := func(c *client, query string) []string {
		t.Helper()
		items, _ := c.walk("/privileges?limit=2&dataspaceId=" + s.dataspace + query)
		return ids(items, "userId")
	}
	all := []string{me, member.id, editor.id}
	for _, c := range []*client{s.client, member, editor} {
		if got := list(c, ""); !slices.Equal(got, all) {
			t.Errorf("privileges: %v, want %v", got, all)
		}
	}
	same(t, "a stranger's list", len(list(stranger, "")), 0)
	same(t, "of one user", strings.Join(list(editor, "&userId="+member.id), " "), member.id)
	same(t, "of me", strings.Join(list(editor, "&userId=me"), " "), editor.id)
	own := editor.get("/privileges?userId=me").data()[0].text("id")
	s.send("DELETE", "/privileges/"+own, nil).want(http.StatusNoContent)
	same(t, "privileges that other users see", strings.Join(list(member, "&state=deleted"), " "), editor.id)
	same(t, "users see their own privileges, also revoked ones", strings.Join(list(editor, "&state=all"), " "), editor.id)
	editor.get("/privileges/" + own).want(http.StatusOK)
	stranger.get("/privileges/"+own).problem(http.StatusForbidden, "forbidden", "")
}

// TestPageChecksPermission tests that permission is checked at every page, although a token is
// bound to no user.
func TestPageChecksPermission(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	member, stranger := s.newMember("member"), s.newUser(nil)
	role := s.get("/privileges?userId=" + member.id).data()[0].text("id")
	for _, path := range []string{
		"/dataspaces/" + s.dataspace + "/resources", "/dataspaces/" + s.dataspace + "/sets", "/sets/" + s.first + "/resources",
		"/resources?dataspaceId=" + s.dataspace, "/resources?setId=" + s.first, "/sets?dataspaceId=" + s.dataspace,
	} {
		page := s.get(path).object().text("currentPage")
		same(t, path, len(member.get(page).data()) > 0, true)
		stranger.get(path).problem(http.StatusForbidden, "forbidden", "")
		stranger.get(page).problem(http.StatusForbidden, "forbidden", "")
	}
	page := s.get("/resources?limit=1000").object().text("currentPage")
	same(t, "objects that a user without a role sees", slices.Contains(ids(stranger.get(page).data(), "id"), s.a), false)
	keys := member.get("/users/" + member.id + "/keys").object().text("currentPage")
	stranger.get(keys).problem(http.StatusForbidden, "forbidden", "")
	s.send("DELETE", "/privileges/"+role, nil).want(http.StatusNoContent)
	member.get("/resources?dataspaceId="+s.dataspace).problem(http.StatusForbidden, "forbidden", "")
}

// TestEachHostGetsItsOwnAddresses tests that concurrent requests for different hosts each get URLs
// of their host, despite the cache of layouts.
func TestEachHostGetsItsOwnAddresses(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	resource := "/resources/" + s.newResource()
	var running sync.WaitGroup
	for i := range 4 {
		running.Go(func() {
			host := fmt.Sprintf("host%d.localhost:%d", i, 8000+i)
			for _, path := range []string{resource, "/resources", resource, "/resources?state=all"} {
				request := httptest.NewRequest("GET", "/v1"+path, nil)
				request.Host = host
				request.Header.Set("Authorization", s.key)
				got := httptest.NewRecorder()
				s.server.Config.Handler.ServeHTTP(got, request)
				all, own := strings.Count(got.Body.String(), "http://"), strings.Count(got.Body.String(), "http://"+host+"/")
				if got.Code != http.StatusOK || own < 3 || all != own {
					t.Errorf("%s of %s: %d, %d of %d URLs have the host", path, host, got.Code, own, all)
				}
			}
		})
	}
	running.Wait()
}

// TestListByName tests listing sets and dataspaces by name. Listings omit objects that the caller
// may not read, and objects with another state.
func TestListByName(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	s, other := c.newSpace(object{"name": c.name("by-name")}), c.newSpace(nil)
	member, stranger := s.newMember("member"), s.newUser(nil)
	set, gone := s.newSet(), s.newSet()
	s.send("DELETE", "/sets/"+gone, nil).want(http.StatusNoContent)
	name := func(path string) string { return c.get(path).object().text("name") }
	named := func(listing, name string, more ...string) string {
		return listing + "?name=" + url.QueryEscape(name) + strings.Join(more, "")
	}
	space, setName, goneName := name("/dataspaces/"+s.dataspace), name("/sets/"+set), name("/sets/"+gone)
	for _, tc := range []struct {
		who  *client
		path string
		want string
	}{
		{c, named("/sets", setName), set}, {member, named("/sets", setName), set}, {stranger, named("/sets", setName), ""},
		{c, named("/sets", setName, "&dataspaceId="+s.dataspace), set}, {c, named("/sets", setName, "&dataspaceId="+other.dataspace), ""},
		{c, named("/dataspaces/"+s.dataspace+"/sets", setName), set}, {c, named("/dataspaces/"+other.dataspace+"/sets", setName), ""},
		{c, named("/sets", setName, "&state=deleted"), ""}, {c, named("/sets", goneName), ""},
		{c, named("/sets", goneName, "&state=deleted"), gone}, {member, named("/sets", goneName, "&state=all", "&limit=1"), gone},
		{c, named("/sets", strings.ToUpper(setName)), ""}, {c, named("/sets", setName+"-"), ""}, {c, named("/sets", "ü /"), ""},
		{c, named("/dataspaces", space), s.dataspace}, {member, named("/dataspaces", space), s.dataspace}, {stranger, named("/dataspaces", space), ""},
		{c, named("/dataspaces", space, "&visibility=public"), ""}, {c, named("/dataspaces", space, "&origin="), s.dataspace},
		{c, named("/dataspaces", space, "&state=deleted"), ""}, {c, named("/dataspaces", "none-has-this"), ""},
		{c, named("/dataspaces", space, "&origin="+strings.Repeat("x", 500)), ""},
	} {
		a := tc.who.get(tc.path).want(http.StatusOK)
		same(t, tc.path, strings.Join(ids(a.data(), "id"), " "), tc.want)
		if next := a.object().text("nextPage"); next != "" {
			same(t, "the page after "+tc.path, len(tc.who.get(next).data()), 0)
			same(t, "the page again", string(tc.who.get(a.object().text("currentPage")).body), string(a.body))
		}
	}
	stranger.get(named("/dataspaces/"+s.dataspace+"/sets", setName)).problem(http.StatusForbidden, "forbidden", "")

	// A page that was empty contains the set after it is created.
	later := c.name("later")
	same(t, "before", len(c.get(named("/sets", later)).data()), 0)
	made := s.send("POST", "/sets", object{"name": later, "dataspaceId": s.dataspace}).want(http.StatusCreated).object().text("id")
	same(t, "after", strings.Join(ids(c.get(named("/sets", later)).data(), "id"), " "), made)
	for _, listing := range []string{"/sets", "/dataspaces", "/dataspaces/" + s.dataspace + "/sets"} {
		c.bad("GET", named(listing, strings.Repeat("a", 101)), nil).problem(http.StatusBadRequest, "invalid_parameter", "name")
		c.get(named(listing, strings.Repeat("a", 100))).want(http.StatusOK)
		c.bad("GET", listing+"?namePrefix=a", nil).problem(http.StatusBadRequest, "invalid_parameter", "namePrefix")
	}
}
