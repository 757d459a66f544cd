package handlers_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestListByName: sets and dataspaces can be asked for by name. What the caller may not read, or is in another state, is not listed.
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
			same(t, "what follows "+tc.path, len(tc.who.get(next).data()), 0)
			same(t, "the page again", string(tc.who.get(a.object().text("currentPage")).body), string(a.body))
		}
	}
	stranger.get(named("/dataspaces/"+s.dataspace+"/sets", setName)).problem(http.StatusForbidden, "forbidden", "")

	// A page that was empty brings the set when there is one.
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
