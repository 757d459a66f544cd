package handlers_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// level returns what is on all pages of one level of a set: names of files and paths of folders, in the order of a listing.
func (c *client) level(set, query string, descending bool) (all []string) {
	c.t.Helper()
	c.walk("/sets/"+set+"/resources?delimiter=/&"+query, func(page *answer) {
		o := page.object()
		var names []string
		for _, r := range page.data() {
			names = append(names, r.text("name"))
		}
		folders, _ := o["folders"].([]any)
		for _, f := range folders {
			names = append(names, f.(map[string]any)["path"].(string))
		}
		slices.Sort(names)
		if descending {
			slices.Reverse(names)
		}
		all = append(all, names...)
		again := c.get(o.text("currentPage")).want(http.StatusOK)
		same(c.t, "currentPage fetched again", string(again.body), string(page.body))
	})
	return all
}

func TestFoldersInListings(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	set := s.newSet()
	for _, name := range []string{"a", "a/1", "a/2/x", "a/2/y", "a\"b/1", "b", "c/1", "d/1", "d/2"} {
		s.upload(set, "f.txt", name, text("name", name))
	}
	items, _ := s.walk("/sets/" + set + "/resources?namePrefix=d/")
	for _, r := range items {
		s.send("DELETE", "/resources/"+r.text("id"), nil).want(http.StatusNoContent)
	}
	more := s.upload(set, "f.txt", "c2", text("name", "c/2"))
	s.send("DELETE", "/resources/"+more.text("id"), nil).want(http.StatusNoContent)
	for _, c := range []struct{ query, want string }{
		{"", `a a"b/ a/ b c/`},
		{"state=all", `a a"b/ a/ b c/ d/`}, // c/, which is in both states, once
		{"state=deleted", "c/ d/"},
		{"namePrefix=a/", "a/1 a/2/"},
		{"namePrefix=a/2/", "a/2/x a/2/y"},
		{"namePrefix=a", `a a"b/ a/`},
		{"namePrefix=x/", ""},
		{"order=name-descending", `c/ b a/ a"b/ a`},
		{"order=name-descending&namePrefix=a/&state=all", "a/2/ a/1"},
		{"fields=metadata", `a a"b/ a/ b c/`},
	} {
		for limit := range 4 {
			query := c.query + fmt.Sprint("&limit=", limit+1)
			if got := strings.Join(s.level(set, query, strings.Contains(query, "descending")), " "); got != c.want {
				t.Errorf("%s lists %s, want %s", query, got, c.want)
			}
		}
	}
	page := string(s.get("/sets/" + set + "/resources?delimiter=/&namePrefix=" + url.QueryEscape(`a"`)).want(http.StatusOK).body)
	if _, shown, _ := strings.Cut(page, `"data": `); shown != "[],\n  \"folders\": [\n    {\"path\": \"a\\\"b/\"}\n  ],\n  \"end\": false\n}\n" {
		t.Errorf("a page with a folder alone is %s", page)
	}
	s.bad("GET", "/sets/"+set+"/resources?delimiter=/&name=a", nil).problem(http.StatusBadRequest, "invalid_parameter", "delimiter")
}
