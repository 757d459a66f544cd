package handlers_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"labshelf/auth/errs"
)

// versionDates returns HTTP dates before and after the last change of a record, and the second of
// the change, which is before the change itself.
func versionDates(t *testing.T, c *client, path string) (before, same, after string) {
	t.Helper()
	modified := time.Now() // users and privileges do not show the time of their last change, which was just now
	if text := c.get(path).object().text("modified"); text != "" {
		var err error
		if modified, err = time.Parse(time.RFC3339, text); err != nil {
			t.Fatal(err)
		}
	}
	date := func(d time.Duration) string { return modified.Add(d).UTC().Format(http.TimeFormat) }
	return date(-time.Hour), date(0), date(time.Hour)
}

// TestPreconditionsOfReads tests that GET and HEAD of a record answer 412 if If-Match or
// If-Unmodified-Since is false, before they evaluate If-None-Match.
func TestPreconditionsOfReads(t *testing.T) {
	t.Parallel()
	for _, r := range records(sysadmin(t).newSpace(nil)) {
		t.Run(r.kind, func(t *testing.T) {
			t.Parallel()
			c := sysadmin(t)
			tag := c.get(r.path).want(http.StatusOK).header.Get("ETag")
			before, second, after := versionDates(t, c, r.path)
			cases := []struct {
				status  int
				headers []string
			}{
				{http.StatusOK, []string{"If-Match: " + tag}},
				{http.StatusOK, []string{"If-Match: *"}},
				{http.StatusOK, []string{`If-Match: "other", ` + tag}},
				{http.StatusPreconditionFailed, []string{`If-Match: "other"`}},
				{http.StatusPreconditionFailed, []string{"If-Match: W/" + tag}},
				{http.StatusPreconditionFailed, []string{`If-Match: "other"`, "If-None-Match: " + tag}},
				{http.StatusNotModified, []string{"If-Match: " + tag, "If-None-Match: " + tag}},
				{http.StatusOK, []string{"If-Unmodified-Since: " + after}},
				{http.StatusPreconditionFailed, []string{"If-Unmodified-Since: " + before}},
				{http.StatusPreconditionFailed, []string{"If-Unmodified-Since: " + before, "If-None-Match: " + tag}},
				{http.StatusOK, []string{"If-Unmodified-Since: " + before, "If-Match: " + tag}},
				{http.StatusOK, []string{"If-Unmodified-Since: yesterday"}},
				{http.StatusOK, []string{"If-Modified-Since: " + after}}, // a record can change without its date
			}
			if r.kind != "user" && r.kind != "privilege" {
				cases = append(cases, struct {
					status  int
					headers []string
				}{http.StatusPreconditionFailed, []string{"If-Unmodified-Since: " + second}})
			}
			for _, tc := range cases {
				for _, method := range []string{"GET", "HEAD"} {
					a := c.send(method, r.path, nil, tc.headers...)
					if a.status != tc.status {
						t.Errorf("%s with %v: want %d, got %s", method, tc.headers, tc.status, a.short())
					}
					if tc.status == http.StatusPreconditionFailed && method == "GET" {
						a.problem(tc.status, errs.CodePrecondition, "")
					}
				}
			}
		})
	}
}

// TestPreconditionsOfWrites tests that a change answers 412 if If-None-Match or If-Unmodified-Since
// is false, and changes nothing.
func TestPreconditionsOfWrites(t *testing.T) {
	t.Parallel()
	for _, r := range records(sysadmin(t).newSpace(nil)) {
		t.Run(r.kind, func(t *testing.T) {
			t.Parallel()
			c := sysadmin(t)
			act := map[string]func(headers ...string) *answer{
				"delete": func(h ...string) *answer { t.Helper(); return c.on(t).send("DELETE", r.path, nil, h...) },
			}
			if r.restores {
				act["restore"] = func(h ...string) *answer { t.Helper(); return c.on(t).send("POST", r.path+"/restore", nil, h...) }
			}
			if r.change != nil {
				act["change"] = func(h ...string) *answer { t.Helper(); return r.change(c.on(t), c.name("value"), h...) }
			}
			for _, what := range []string{"change", "delete", "restore"} {
				if act[what] == nil {
					continue
				}
				tag := c.get(r.path).want(http.StatusOK).header.Get("ETag")
				before, _, after := versionDates(t, c, r.path)
				for _, header := range []string{
					"If-None-Match: " + tag, "If-None-Match: W/" + tag, "If-None-Match: *", `If-None-Match: "other",` + tag,
					"If-Unmodified-Since: " + before,
				} {
					act[what](header).problem(http.StatusPreconditionFailed, errs.CodePrecondition, "")
				}
				act[what]("If-Match: "+tag, "If-None-Match: "+tag).problem(http.StatusPreconditionFailed, errs.CodePrecondition, "")
				same(t, "the tag after a refused "+what, c.get(r.path).header.Get("ETag"), tag)
				a := act[what]("If-Unmodified-Since: "+after, `If-None-Match: "other", `+strings.Trim(tag, `"`))
				if a.status >= 300 {
					t.Errorf("%s with conditions that are true: %s", what, a.short())
				}
			}
		})
	}
}

// TestPreconditionsOfUploads tests that a chunked replacement is bound to the version that its
// conditions accepted at the start.
func TestPreconditionsOfUploads(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	id := s.newResource()
	tag := s.get("/resources/" + id).header.Get("ETag")
	before, _, after := versionDates(t, s.client, "/resources/"+id)
	begin := func(headers ...string) *answer {
		return s.send("POST", "/uploads", nil, append(headers, inTus, "Upload-Length: 3", uploadMetadata("resourceId", id, "filename", "b"))...)
	}
	begin("If-None-Match: "+tag).problem(http.StatusPreconditionFailed, errs.CodePrecondition, "")
	begin("If-Unmodified-Since: "+before).problem(http.StatusPreconditionFailed, errs.CodePrecondition, "")
	at := begin("If-Unmodified-Since: " + after).want(http.StatusCreated).header.Get("Location")
	s.send("PATCH", "/resources/"+id, object{"description": "changed meanwhile"}).want(http.StatusOK)
	s.chunk(at, 0, "abc").problem(http.StatusPreconditionFailed, errs.CodePrecondition, "")
}
