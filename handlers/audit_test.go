package handlers_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
)

// actions returns the actions in a listing of entries, in order.
func (c *client) actions(path string) (actions []string) {
	items, _ := c.walk(path)
	for _, e := range items {
		actions = append(actions, e.text("action"))
	}
	return actions
}

// TestHistory tests that readers of an object see all its changes in order, without connection
// data. Only the audit log contains these.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	editor, member, set := s.newMember("editor"), s.newMember("member"), s.newSet()
	path := "/resources/" + s.upload(set, "run.csv", "one").text("id")
	editor.send("PUT", path, form(file("run.csv", "two"))).want(http.StatusOK)
	editor.send("PATCH", path, object{"name": "walk.csv"}).want(http.StatusOK)
	editor.send("PUT", path+"/versions/1/label", object{"label": "sent"}).want(http.StatusOK)
	editor.send("POST", path+"/versions/1/restore", nil).want(http.StatusOK)
	s.send("DELETE", path+"/versions/2/data", nil).want(http.StatusOK)
	s.send("DELETE", "/sets/"+set, nil).want(http.StatusNoContent)
	s.send("POST", "/sets/"+set+"/restore", nil).want(http.StatusOK)

	want := []string{"resource.restore", "resource.delete", "version.erase", "version.restore", "version.label", "resource.edit", "resource.replace", "resource.create"}
	items, _ := member.walk(path + "/history?limit=3")
	for i, e := range items {
		same(t, "action", e.text("action"), want[i])
		for _, hidden := range []string{"address", "keyId", "requestId", "session"} {
			if e[hidden] != nil {
				t.Errorf("%s shows %s", e.text("action"), hidden)
			}
		}
	}
	same(t, "entries", len(items), len(want))
	same(t, "the user who edited", items[5].text("userId"), editor.id)
	same(t, "the name", fmt.Sprint(items[5]["texts"]), "map[name:map[before:run.csv now:walk.csv]]")
	same(t, "the files", items[6].text("sha256Before")+items[6].text("sha256"), sha256Hex("one")+sha256Hex("two"))
	same(t, "the version restored", fmt.Sprint(items[3]["version"], items[3]["values"]), "3 map[restored:1]")
	sets, _ := member.walk("/sets/" + set + "/history")
	same(t, "the set", sets[0].text("action")+sets[1].text("action")+sets[2].text("action"), "set.restoreset.deleteset.create")
	same(t, "why the resource was deleted", items[1]["cause"], sets[1]["number"])
	same(t, "the dataspace", strings.Join(member.actions("/dataspaces/"+s.dataspace+"/history"), " "),
		"privilege.grant privilege.grant privilege.grant dataspace.create")

	logged, _ := s.walk("/audit?limit=4&objectId=" + strings.TrimPrefix(path, "/resources/"))
	same(t, "entries of the log", len(logged), len(want))
	request := editor.send("PATCH", path, object{"name": "last.csv"}).want(http.StatusOK).header.Get("X-Request-Id")
	last := s.get("/audit?limit=1").data()[0]
	same(t, "the request", last.text("requestId"), request)
	same(t, "from where", last.text("address"), "127.0.0.1")
	s.newSpace(nil).newMember("admin").get("/resources/"+strings.TrimPrefix(path, "/resources/")+"/history").problem(http.StatusForbidden, errs.CodeForbidden, "")
}

// TestAuditListing tests filters and orders. Admins see only entries about their dataspaces. Other
// users see nothing.
func TestAuditListing(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s, other := c.newSpace(nil), c.newSpace(nil)
	admin, set := s.newMember("admin"), s.newSet()
	other.upload(other.newSet(), "foreign", "content")
	admin.upload(set, "own", "content")
	all := c.actions("/audit?limit=7&order=oldest")
	backwards := c.actions("/audit?limit=7")
	slices.Reverse(backwards)
	same(t, "backwards", strings.Join(backwards, " "), strings.Join(all, " "))
	same(t, "the first entry", all[0], "epoch.begin")
	same(t, "resources", strings.Join(c.actions("/audit?action=resource.create"), " "), "resource.create resource.create")
	same(t, "sets", strings.Join(c.actions("/audit?action=set.*"), " "), "set.create set.create")
	for _, action := range []string{"set.explode", "set", "*", "none.*", ".*"} {
		c.bad("GET", "/audit?action="+action, nil).problem(400, errs.CodeInvalidParameter, "action")
	}
	same(t, "entries of the admin", strings.Join(c.actions("/audit?userId="+admin.id), " "), "resource.create")
	same(t, "entries that the admin sees", strings.Join(admin.actions("/audit"), " "), "resource.create set.create privilege.grant privilege.grant dataspace.create")
	same(t, "entries that a member sees", len(s.newMember("member").actions("/audit")), 0)

	times, _ := c.walk("/audit?order=oldest")
	at := times[len(times)/2].text("time")
	before, after := c.actions("/audit?until="+at), c.actions("/audit?since="+at)
	if len(before)+len(after) > len(times) || len(before) == 0 || len(after) == 0 {
		t.Errorf("%d before and %d after %s, of %d", len(before), len(after), at, len(times))
	}
	c.bad("GET", "/audit?action=A", nil).problem(400, errs.CodeInvalidParameter, "action")
	c.bad("GET", "/audit?objectId=1", nil).problem(400, errs.CodeInvalidParameter, "objectId")
	c.bad("GET", "/audit?userId=01JD2Q0V7H3M8N4T5R6W7X8Y9Z", nil).problem(404, errs.CodeUserNotFound, "userId")
	page := strings.Replace(c.get("/audit?limit=1").text("nextPage"), c.base, "", 1)
	c.get(page).want(http.StatusOK)
	c.bad("GET", page[:len(page)-2], nil).problem(400, errs.CodeInvalidToken, "")
}

func (a *answer) text(field string) string { return a.object().text(field) }

// TestHistoryOfPublicDataspace tests that readers without a role see the changes, but not the roles
// of users.
func TestHistoryOfPublicDataspace(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(object{"visibility": "public"})
	member, stranger := s.newMember("member"), s.newUser(nil)
	s.send("PUT", "/dataspaces/"+s.dataspace, object{"title": "Lab"}).want(http.StatusOK)
	path := "/dataspaces/" + s.dataspace + "/history?limit=1"
	same(t, "with a role", strings.Join(member.actions(path), " "), "dataspace.update privilege.grant privilege.grant dataspace.create")
	same(t, "without one", strings.Join(stranger.actions(path), " "), "dataspace.update dataspace.create")
}

// TestAuditOfEpoch tests that an epoch is listed at the time when it began, also if it continues an
// older state.
func TestAuditOfEpoch(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	c.newSpace(nil)
	first := c.get("/audit?order=oldest&limit=1").data()[0]
	since := time.Now().UTC().Format(time.RFC3339Nano)
	if _, err := metadata.BeginEpoch(t.Context(), c.meta, time.Now()); err != nil {
		t.Fatal(err)
	}
	same(t, "since then", strings.Join(c.actions("/audit?action=epoch.begin&since="+since), " "), "epoch.begin")
	same(t, "before the first", len(c.actions("/audit?until="+first.text("time"))), 0)
}

// TestAuditHead tests that the head is signed, and that the functions of Go's checksum database
// verify proofs of entries and of growth. An erasure does not affect them.
func TestAuditHead(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	head := func(query string) (h audit.Head, signed string) {
		o := s.get("/audit/head" + query).want(http.StatusOK).object()
		h, err := audit.ParseHead(o.text("head"), o.text("key"))
		if err != nil || fmt.Sprint(h.Size) != fmt.Sprint(o["size"]) || h.Origin.String() != o.text("origin") {
			t.Fatalf("%v: %v", o, err)
		}
		return h, o.text("head")
	}
	proof := func(query string) (hashes []tlog.Hash) {
		for _, text := range s.get("/audit/proof?" + query).want(http.StatusOK).object()["hashes"].([]any) {
			hash, err := base64.StdEncoding.DecodeString(text.(string))
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, tlog.Hash(hash))
		}
		return hashes
	}
	older, noted := head("")
	set := s.newSet()
	s.upload(set, "a", "content")
	s.upload(set, "b", "content")
	newer, _ := head("")
	if err := tlog.CheckTree(proof(fmt.Sprintf("from=%d&size=%d", older.Size, newer.Size)), int64(newer.Size), newer.Root, int64(older.Size), older.Root); err != nil {
		t.Error(err)
	}
	number := newer.Size - 2
	s.send("DELETE", fmt.Sprintf("/audit/entries/%d/texts", number), nil).want(http.StatusNoContent)
	s.send("DELETE", fmt.Sprintf("/audit/entries/%d/texts", number), nil).want(http.StatusNoContent)
	lines := strings.Split(strings.TrimSpace(string(s.get("/audit/export").want(http.StatusOK).body)), "\n")
	same(t, "lines of an export", len(lines), int(newer.Size)+2)
	for n := range newer.Size {
		var line struct {
			Leaf  []byte `json:"leaf"`
			Texts any    `json:"texts"`
		}
		if err := json.Unmarshal([]byte(lines[n+1]), &line); err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint("values of entry ", n, " are gone"), n == number && line.Texts != nil, false)
		if err := tlog.CheckRecord(proof(fmt.Sprintf("entry=%d&size=%d", n, newer.Size)), int64(newer.Size), newer.Root, int64(n), tlog.RecordHash(line.Leaf)); err != nil {
			t.Errorf("entry %d: %v", n, err)
		}
	}
	if _, again := head(fmt.Sprint("?size=", older.Size)); again != noted {
		t.Errorf("the head of %d entries was %q, and now is %q", older.Size, noted, again)
	}
	same(t, "the erased version", s.get("/audit?limit=3").data()[2]["erased"], any(true))
	erasure := s.get("/audit?action=audit.erase").data()
	same(t, "erasures", fmt.Sprint(len(erasure), erasure[0]["values"]), fmt.Sprint("1 map[entry:", number, "]"))
	s.bad("GET", "/audit/head?size=1000000", nil).problem(400, errs.CodeInvalidField, "size")
	s.bad("GET", "/audit/head?size=x", nil).problem(400, errs.CodeInvalidField, "size")
	s.bad("GET", "/audit/proof?entry=-1", nil).problem(400, errs.CodeInvalidField, "entry")
	s.bad("GET", "/audit/proof?from=01", nil).problem(400, errs.CodeInvalidField, "from")
	s.bad("GET", "/audit/proof?entry=1000000", nil).problem(400, errs.CodeInvalidField, "entry")
	s.bad("GET", "/audit/proof?from=1000000", nil).problem(400, errs.CodeInvalidField, "from")
	s.withKey("").bad("GET", "/audit/head?size=x", nil).want(401)
	s.bad("GET", "/audit/head?other=1", nil).problem(400, errs.CodeInvalidParameter, "other")
	s.bad("GET", "/audit/proof?entry=1&from=1", nil).problem(400, errs.CodeInvalidField, "entry")
	s.bad("GET", "/audit/proof?from=0", nil).problem(400, errs.CodeInvalidField, "from")
	s.bad("DELETE", "/audit/entries/1000000/texts", nil).problem(404, errs.CodeAuditEntryNotFound, "")
}
