package handlers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"labshelf/auth/errs"
)

const historyLines = `  "created": "{created}",
  "created_epoch": {created_epoch},
  "modified": "{modified}",
  "modified_epoch": {modified_epoch},
`

// exactly compares the body of the answer. {member} in want is a placeholder for that member of the
// answer, which checkTimes and checkID check. Other placeholders are given with their values in
// pairs.
func (a *answer) exactly(want string, pairs ...string) object {
	a.t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(a.body, &members); err != nil {
		a.t.Fatalf("%v in %s", err, a.short())
	}
	for member, value := range members {
		pairs = append(pairs, "{"+member+"}", strings.Trim(string(value), `"`))
	}
	want = strings.NewReplacer(pairs...).Replace(want)
	if diff := cmp.Diff(want, string(a.body)); diff != "" {
		a.t.Errorf("%s: (-want +got)\n%s", a.what, diff)
	}
	same(a.t, "Content-Type", a.header.Get("Content-Type"), "application/json; charset=utf-8")
	return a.object()
}

func (c *client) checkID(o object) {
	c.t.Helper()
	if id := o.text("id"); len(id) != ulid.EncodedSize || strings.ToUpper(id) != id {
		c.t.Errorf("id %q", id)
	}
}

// checkTimes checks created and modified: UTC with milliseconds, recent, and equal to their epochs.
func (c *client) checkTimes(o object) {
	c.t.Helper()
	for _, name := range []string{"created", "modified"} {
		shown := o.text(name)
		at, err := time.Parse("2006-01-02T15:04:05.000Z", shown)
		if err != nil || !regexp.MustCompile(`\.\d{3}Z$`).MatchString(shown) {
			c.t.Errorf("%s is %q", name, shown)
		}
		if ago := time.Since(at); ago < 0 || ago > time.Minute {
			c.t.Errorf("%s is %v ago", name, ago)
		}
		if epoch, _ := o[name+"_epoch"].(float64); int64(epoch) != at.UnixMilli() {
			c.t.Errorf("%s is %v, its epoch %v", name, at.UnixMilli(), epoch)
		}
	}
}

// created checks the headers of an answer that created an object, and that its Location returns the
// same record.
func (c *client) created(a *answer) {
	c.t.Helper()
	made := a.want(http.StatusCreated).object()
	url := c.base + strings.TrimPrefix(a.what, "POST ") + "/" + made.text("id")
	same(c.t, "Location", a.header.Get("Location"), url)
	read := c.get(url).want(http.StatusOK)
	same(c.t, "the record at Location", string(read.body), string(a.body))
	same(c.t, "ETag", read.header.Get("ETag"), a.header.Get("ETag"))
	head := c.send("HEAD", url, nil).want(http.StatusOK)
	same(c.t, "ETag of HEAD", head.header.Get("ETag"), a.header.Get("ETag"))
	same(c.t, "body of HEAD", len(head.body), 0)
	same(c.t, "Content-Length of HEAD", head.header.Get("Content-Length"), read.header.Get("Content-Length"))
}

func TestDataspace(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	me := c.get("/users/me").object().text("id")
	const all = `{
  "id": "{id}",
  "url": "{base}/dataspaces/{id}",
  "name": "{name}",
  "title": "{title}",
  "description": "{description}",
  "visibility": "{visibility}",
  "origin": "{origin}",
  "resources": "{base}/dataspaces/{id}/resources",
  "sets": "{base}/dataspaces/{id}/sets",
  "state": "active",
` + historyLines + `  "createdBy": "{me}",
  "modifiedBy": "{me}",
  "retention": "everything"
}
`
	name := c.name("ds")
	made := c.send("POST", "/dataspaces", object{"name": name})
	c.created(made)
	o := made.exactly(all, "{base}", c.base, "{me}", me, "{name}", name, "{title}", "", "{description}", "", "{visibility}", "private", "{origin}", "")
	c.checkID(o)
	c.checkTimes(o)
	same(t, "modified of something new", o["modified"], o["created"])
	fields := object{"title": "Übung <a> & 漢字", "description": "one\n\ttwo\u2028", "visibility": "Public", "origin": "survey"}
	updated := c.send("PUT", "/dataspaces/"+o.text("id"), fields).want(http.StatusOK)
	u := updated.exactly(all, "{base}", c.base, "{me}", me, "{name}", name, "{title}", "Übung <a> & 漢字",
		"{description}", `one\n\ttwo`+"\u2028", "{visibility}", "public", "{origin}", "survey")
	c.checkTimes(u)
	if u.text("created") != o.text("created") || u["modified_epoch"].(float64) < o["modified_epoch"].(float64) {
		t.Errorf("times %v after %v", u, o)
	}
	second := object{"name": c.name("ds")}
	for field, value := range fields {
		second[field] = value
	}
	made = c.send("POST", "/dataspaces", second)
	c.created(made)
	same(t, "title", made.object().text("title"), "Übung <a> & 漢字")
	same(t, "visibility", made.object().text("visibility"), "public")
}

func TestSet(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	editor := s.newMember("editor")
	const all = `{
  "id": "{id}",
  "url": "{base}/sets/{id}",
  "name": "{name}",
  "title": "{title}",
  "description": "{description}",
  "dataspaceId": "{dataspace}",
  "dataspaceUrl": "{base}/dataspaces/{dataspace}",
  "resources": "{base}/sets/{id}/resources",
  "state": "active",
` + historyLines + `  "createdBy": "{editor}",
  "modifiedBy": "{by}",
  "extract": {extract}
}
`
	name := s.name("set")
	pairs := []string{"{base}", s.base, "{dataspace}", s.dataspace, "{editor}", editor.id, "{name}", name, "{extract}", "[]"}
	made := editor.send("POST", "/sets", object{"name": name, "dataspaceId": s.dataspace})
	editor.created(made)
	o := made.exactly(all, append(pairs, "{title}", "", "{description}", "", "{by}", editor.id)...)
	s.checkID(o)
	s.checkTimes(o)
	admin := s.newMember("admin")
	updated := admin.send("PUT", "/sets/"+o.text("id"), object{"title": "New"}).want(http.StatusOK)
	updated.exactly(all, append(pairs, "{title}", "New", "{description}", "", "{by}", admin.id)...)
	updated = editor.send("PUT", "/sets/"+o.text("id"), object{"description": "What & why"}).want(http.StatusOK)
	updated.exactly(all, append(pairs, "{title}", "New", "{description}", "What & why", "{by}", editor.id)...)
	again := admin.send("PUT", "/sets/"+o.text("id"), object{"description": "What & why", "title": "New"}).want(http.StatusOK)
	same(t, "an update that changes nothing", string(again.body), string(updated.body))
	admin.send("PUT", "/sets/"+o.text("id"), object{}).want(http.StatusOK)
	made = editor.send("POST", "/sets", object{"name": s.name("set"), "dataspaceId": s.dataspace, "title": "T", "description": "D"})
	editor.created(made)
	same(t, "title and description", made.object().text("title")+made.object().text("description"), "TD")
	made = editor.send("POST", "/sets", object{"name": s.name("set"), "dataspaceId": s.dataspace, "extract": []any{"header"}})
	editor.created(made)
	path := "/sets/" + made.object().text("id")
	for _, sources := range [][]any{{"header"}, {"sidecar"}, {}, {"header", "sidecar"}} {
		updated = editor.send("PUT", path, object{"extract": sources}).want(http.StatusOK)
		shown := updated.object()["extract"].([]any)
		same(t, "number of sources", len(shown), len(sources))
		for _, source := range sources {
			same(t, fmt.Sprintf("%v is among %v", source, shown), slices.Contains(shown, source), true)
		}
	}
	for _, wrong := range []any{"header", []any{"filename"}, []any{"header", "header"}, []any{1}, nil, object{}} {
		editor.bad("PUT", path, object{"extract": wrong}).problem(http.StatusBadRequest, errs.CodeInvalidField, "extract")
	}
	same(t, "after bad input", string(s.get(path).body), string(updated.body))
}

func TestResource(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	editor, set := s.newMember("editor"), s.newSet()
	const all = `{
  "id": "{id}",
  "url": "{base}/resources/{id}",
  "dataUrl": "{base}/resources/{id}/data",
  "viewDataUrl": "{root}/resources/{id}",
  "name": "{name}",
  "description": "{description}",
  "format": "{format}",
  "mimetype": "{mimetype}",
  "size": {size},
` + historyLines + `  "setId": "{set}",
  "state": "active",
  "bytes": {bytes},
  "sha256": "{sha256}",
  "filename": "{filename}",
  "dataspaceId": "{dataspace}",
  "createdBy": "{editor}",
  "modifiedBy": "{by}",
  "version": {version}
}
`
	pairs := []string{"{base}", s.base, "{root}", s.server.URL, "{set}", set, "{dataspace}", s.dataspace, "{editor}", editor.id}
	content := strings.Repeat("x", 1536)
	made := editor.send("POST", "/resources", form(text("setId", set), file("Grüße & <co>.xml", content), text("description", "line\nline")))
	editor.created(made)
	o := made.exactly(all, append(pairs, "{name}", "Grüße & <co>.xml", "{description}", `line\nline`, "{format}", "XML",
		"{mimetype}", "application/xml", "{size}", "2", "{bytes}", "1536", "{sha256}", sha256Hex(content),
		"{filename}", "Grüße & <co>.xml", "{by}", editor.id, "{version}", "1")...)
	s.checkID(o)
	s.checkTimes(o)
	same(t, "modified of something new", o["modified"], o["created"])
	path := "/resources/" + o.text("id")

	edited := s.send("PATCH", path, object{"name": "other/name", "format": ""}).want(http.StatusOK)
	me := s.get("/users/me").object().text("id")
	edited.exactly(all, append(pairs, "{name}", "other/name", "{description}", `line\nline`, "{format}", "",
		"{mimetype}", "application/xml", "{size}", "2", "{bytes}", "1536", "{sha256}", sha256Hex(content),
		"{filename}", "Grüße & <co>.xml", "{by}", me, "{version}", "1")...)

	replaced := editor.send("PUT", path, form(file("b.csv", "1,2\n3,4\n"))).want(http.StatusOK)
	r := replaced.exactly(all, append(pairs, "{name}", "b.csv", "{description}", "", "{format}", "CSV",
		"{mimetype}", "text/csv; charset=utf-8", "{size}", "1", "{bytes}", "8", "{sha256}", sha256Hex("1,2\n3,4\n"),
		"{filename}", "b.csv", "{by}", editor.id, "{version}", "2")...)
	same(t, "created after a replacement", r.text("created"), o.text("created"))
	same(t, "the new file", string(editor.get(path+"/data").want(http.StatusOK).body), "1,2\n3,4\n")
	again := editor.send("PUT", path, form(file("b.csv", "1,2\n3,4\n"))).want(http.StatusOK)
	if again.header.Get("ETag") == replaced.header.Get("ETag") {
		t.Error("uploading the same file again created no version")
	}
}

func TestUser(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	const all = `{
  "id": "{id}",
  "url": "{base}/users/{id}",
  "username": "{username}",
  "fullname": "{fullname}",
  "about": "{about}",
{sys}  "state": "active"
}
`
	name := "A.b_c-D@" + c.name("x")
	pairs := []string{"{base}", c.base, "{username}", name}
	made := c.send("POST", "/users", object{"username": name})
	c.created(made)
	pairs = append(pairs, "{sys}", "  \"sysadmin\": false,\n")
	o := made.exactly(all, append(pairs, "{fullname}", "", "{about}", "")...)
	c.checkID(o)
	path := "/users/" + o.text("id")
	c.send("PUT", path, object{"fullname": "Ada", "about": "a\nb", "sysadmin": true}).want(http.StatusOK)
	same(t, "sysadmin", c.get(path).object()["sysadmin"], any(true))
	c.send("PUT", path, object{"sysadmin": false}).want(http.StatusOK).exactly(all, append(pairs, "{fullname}", "Ada", "{about}", `a\nb`)...)

	key := c.send("POST", path+"/keys", nil).want(http.StatusCreated).object().text("key")
	self := c.withKey(key)
	self.get("/users/me").want(http.StatusOK).exactly(all, append(pairs, "{fullname}", "Ada", "{about}", `a\nb`)...)
	self.send("PUT", "/users/me", object{"about": ""}).want(http.StatusOK).exactly(all, append(pairs, "{fullname}", "Ada", "{about}", "")...)
	stranger := c.newUser(object{"fullname": "Bob", "about": "b", "sysadmin": false})
	hidden := append([]string{"{sys}", ""}, pairs[:4]...)
	stranger.get(path).want(http.StatusOK).exactly(all, append(hidden, "{fullname}", "Ada", "{about}", "")...)
	same(t, "the caller's own record", stranger.get("/users/me").object().text("fullname"), "Bob")
}
