package handlers_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// record is an object with versions, with functions that change, delete and restore it.
type record struct {
	kind, path string
	change     func(c *client, value string, headers ...string) *answer // nil if it cannot be changed
	restores   bool
}

// records creates one object of each kind that has versions.
func records(s *space) []record {
	edit := func(method, path, field string) func(*client, string, ...string) *answer {
		return func(c *client, value string, headers ...string) *answer {
			c.t.Helper()
			return c.send(method, path, object{field: value}, headers...)
		}
	}
	space, set, resource := "/dataspaces/"+s.newSpace(nil).dataspace, "/sets/"+s.newSet(), "/resources/"+s.newResource()
	replaced, user, member := "/resources/"+s.newResource(), "/users/"+s.newUser(nil).id, s.newMember("member")
	privilege := s.get("/privileges?userId=" + member.id).data()[0].text("id")
	return []record{
		{"dataspace", space, edit("PUT", space, "title"), true},
		{"set", set, edit("PUT", set, "title"), true},
		{"resource", resource, edit("PATCH", resource, "description"), true},
		{"file", replaced, func(c *client, value string, headers ...string) *answer {
			c.t.Helper()
			return c.send("PUT", replaced, form(file("a", value)), headers...)
		}, true},
		{"user", user, edit("PUT", user, "about"), true},
		{"privilege", "/privileges/" + privilege, nil, false},
	}
}

// TestEachChangeNeedsTheLatestTag changes each kind of object in several steps. Each step requires
// the tag of the previous one.
func TestEachChangeNeedsTheLatestTag(t *testing.T) {
	t.Parallel()
	for _, r := range records(sysadmin(t).newSpace(nil)) {
		t.Run(r.kind, func(t *testing.T) {
			t.Parallel()
			c := sysadmin(t)
			tags := []string{c.get(r.path).want(http.StatusOK).header.Get("ETag")}
			step := func(what string, act func(headers ...string) *answer, status int) {
				t.Helper()
				tag := tags[len(tags)-1]
				wrong := []string{"W/" + tag, `"other", W/` + tag, strings.Trim(tag, `"`), tag[:len(tag)-1], ""}
				for _, wrong := range append(wrong, tags[:len(tags)-1]...) {
					act("If-Match: "+wrong).problem(http.StatusPreconditionFailed, "precondition_failed", "")
				}
				same(t, "the tag after a refused "+what, c.get(r.path).header.Get("ETag"), tag)
				after := act(`If-Match: "other", ` + tag).want(status).header.Get("ETag")
				same(t, "the tag that GET shows after "+what, c.get(r.path).header.Get("ETag"), after)
				if slices.Contains(tags, after) || !strings.HasPrefix(after, `"`) {
					t.Errorf("after %s the tag is %s, as before: %v", what, after, tags)
				}
				tags = append(tags, after)
			}
			if r.change != nil {
				step("a change", func(h ...string) *answer { t.Helper(); return r.change(c.on(t), "new", h...) }, http.StatusOK)
				tags = append(tags, r.change(c, "newer", "If-Match: *").want(http.StatusOK).header.Get("ETag"))
			}
			remove := func(h ...string) *answer { t.Helper(); return c.send("DELETE", r.path, nil, h...) }
			step("deleting", remove, http.StatusNoContent)
			same(t, "the tag after deleting again", remove("If-Match: *").want(http.StatusNoContent).header.Get("ETag"), tags[len(tags)-1])
			remove("If-Match: "+tags[0]).problem(http.StatusPreconditionFailed, "precondition_failed", "")
			if !r.restores {
				return
			}
			if r.change != nil {
				r.change(c, "new", "If-Match: "+tags[0]).problem(http.StatusPreconditionFailed, "precondition_failed", "")
				r.change(c, "new", "If-Match: *").problem(http.StatusConflict, "deleted", "")
			}
			restore := func(h ...string) *answer { t.Helper(); return c.send("POST", r.path+"/restore", nil, h...) }
			step("restoring", restore, http.StatusOK)
			same(t, "the tag after restoring again", restore().want(http.StatusOK).header.Get("ETag"), tags[len(tags)-1])
			restore("If-Match: "+tags[0]).problem(http.StatusPreconditionFailed, "precondition_failed", "")
		})
	}
}

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()
	for _, r := range records(sysadmin(t).newSpace(nil)) {
		t.Run(r.kind, func(t *testing.T) {
			t.Parallel()
			c := sysadmin(t)
			tag := c.get(r.path).want(http.StatusOK).header.Get("ETag")
			cases := []struct {
				header string
				status int
			}{
				{tag, http.StatusNotModified}, {"W/" + tag, http.StatusNotModified}, {"*", http.StatusNotModified},
				{`"a", "b,c" ,W/"d",` + tag, http.StatusNotModified}, {"  " + tag, http.StatusNotModified},
				{`"other"`, http.StatusOK}, {strings.Trim(tag, `"`), http.StatusOK}, {tag[:len(tag)-1], http.StatusOK}, {`w/` + tag, http.StatusOK},
			}
			for _, tc := range cases {
				for _, method := range []string{"GET", "HEAD"} {
					a := c.send(method, r.path, nil, "If-None-Match: "+tc.header).want(tc.status)
					same(t, "ETag", a.header.Get("ETag"), tag)
					if tc.status == http.StatusNotModified && len(a.body) > 0 {
						t.Errorf("304 with a body: %s", a.body)
					}
				}
			}
			if r.change != nil {
				r.change(c, "changed").want(http.StatusOK)
				c.get(r.path, "If-None-Match: "+tag).want(http.StatusOK)
			}
		})
	}
}

// TestUnchangedUpdateKeepsVersion tests that an update without changes answers 200 and creates no
// version. Uploading a file again always creates one.
func TestUnchangedUpdateKeepsVersion(t *testing.T) {
	t.Parallel()
	for _, r := range records(sysadmin(t).newSpace(nil)) {
		if r.change == nil {
			continue
		}
		t.Run(r.kind, func(t *testing.T) {
			t.Parallel()
			c := sysadmin(t)
			first := r.change(c, "value").want(http.StatusOK)
			again := r.change(c, "value").want(http.StatusOK)
			equal := first.header.Get("ETag") == again.header.Get("ETag")
			same(t, "the tag stays", equal, r.kind != "file")
		})
	}
}

// TestOneConcurrentUpdateWins sends concurrent writes with the same tag. Exactly one succeeds.
func TestOneConcurrentUpdateWins(t *testing.T) {
	t.Parallel()
	for _, r := range records(sysadmin(t).newSpace(nil)) {
		if r.change == nil {
			continue
		}
		t.Run(r.kind, func(t *testing.T) {
			t.Parallel()
			c := sysadmin(t)
			for round := range 5 {
				tag := c.get(r.path).header.Get("ETag")
				statuses := make([]int, 4)
				var writers sync.WaitGroup
				for i := range statuses {
					writers.Go(func() {
						statuses[i] = r.change(c, strings.Repeat("x", 1+4*round+i), "If-Match: "+tag).status
					})
				}
				writers.Wait()
				slices.Sort(statuses)
				if !slices.Equal(statuses, []int{200, 412, 412, 412}) {
					t.Errorf("round %d: %v", round, statuses)
				}
			}
		})
	}
}
