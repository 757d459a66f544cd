package handlers_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"
	"time"
)

func TestKeyIsShownOnceAndCanBeRevoked(t *testing.T) {
	t.Parallel()
	user := sysadmin(t).newUser(nil)
	const all = `{
  "id": "{id}",
  "label": "{label}",
  "prefix": "{prefix}",
  "created": "{created}",
{more}  "madeWith": "{maker}",
  "scope": "all",
  "state": "active",
  "key": "{key}"
}
`
	maker := user.get("/users/me/keys").data()[0].text("id")
	made := user.send("POST", "/users/me/keys", nil).want(http.StatusCreated)
	o := made.exactly(all, "{label}", "", "{more}", "", "{maker}", maker)
	user.checkID(o)
	same(t, "Location", made.header.Get("Location"), user.base+"/users/"+user.id+"/keys/"+o.text("id"))
	same(t, "Cache-Control", made.header.Get("Cache-Control"), "no-store")
	same(t, "ETag of a key", made.header.Get("ETag"), "")
	key := o.text("key")
	if !regexp.MustCompile(`^lsk_[A-Za-z0-9_-]{43}$`).MatchString(key) || o.text("prefix") != key[:8] {
		t.Errorf("key %q with the prefix %q", key, o.text("prefix"))
	}
	same(t, "the new key opens", user.withKey(key).get("/users/me").want(http.StatusOK).object().text("id"), user.id)

	end := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	made = user.send("POST", "/users/"+user.id+"/keys", object{"label": "cluster", "expires": end.Format(time.RFC3339Nano)})
	ends := end.Format("2006-01-02T15:04:05.000Z")
	o = made.want(http.StatusCreated).exactly(all, "{label}", "cluster", "{more}", "  \"expires\": \""+ends+"\",\n", "{maker}", maker)
	user.withKey(o.text("key")).get("/users/me").want(http.StatusOK)

	keys := user.get("/users/me/keys").data()
	same(t, "number of keys", len(keys), 3)
	for _, shown := range keys {
		same(t, "state", shown.text("state"), "active")
		if _, secret := shown["key"]; secret {
			t.Error("a listing shows a key")
		}
	}
	path := "/users/me/keys/" + o.text("id")
	same(t, "ETag", user.send("DELETE", path, nil).want(http.StatusNoContent).header.Get("ETag"), "")
	user.send("DELETE", path, nil).want(http.StatusNoContent)
	user.withKey(o.text("key")).get("/users/me").problem(http.StatusUnauthorized, "unauthenticated", "")
	keys = user.get("/users/me/keys").data()
	same(t, "state of the revoked one", keys[2].text("state"), "revoked")
}

// TestUseOfKeyIsRecorded tests that the use of a key is recorded in the background.
func TestUseOfKeyIsRecorded(t *testing.T) {
	t.Parallel()
	user := sysadmin(t).newUser(nil)
	var used string
	eventually(t, "the use of the key is noted", func() bool {
		used = user.get("/users/me/keys").data()[0].text("lastUsed")
		return used != ""
	})
	if at, err := time.Parse("2006-01-02T15:04:05.000Z", used); err != nil || time.Since(at) > time.Minute {
		t.Errorf("last used %q", used)
	}
}

func TestPrivilegeIsGrantedAndRevoked(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	user := s.newUser(nil)
	const all = `{
  "id": "{id}",
  "url": "{base}/privileges/{id}",
  "userId": "{user}",
  "userUrl": "{base}/users/{user}",
  "dataspaceId": "{dataspace}",
  "dataspaceUrl": "{base}/dataspaces/{dataspace}",
  "role": "{role}",
  "state": "active"
}
`
	pairs := []string{"{base}", s.base, "{user}", user.id, "{dataspace}", s.dataspace}
	grant := func(role string, status int) *answer {
		return s.send("POST", "/privileges", object{"userId": user.id, "dataspaceId": s.dataspace, "role": role}).want(status)
	}
	made := grant("member", http.StatusCreated)
	s.created(made)
	o := made.exactly(all, append(pairs, "{role}", "member")...)
	s.checkID(o)
	confirmed := grant("member", http.StatusOK)
	same(t, "the confirmed record", string(confirmed.body), string(made.body))
	same(t, "its ETag", confirmed.header.Get("ETag"), made.header.Get("ETag"))
	same(t, "its Location", confirmed.header.Get("Location"), "")
	grant("editor", http.StatusOK).exactly(all, append(pairs, "{role}", "editor", "{id}", o.text("id"))...)

	path := "/privileges/" + o.text("id")
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	same(t, "state", s.get(path).object().text("state"), "deleted")
	user.get("/dataspaces/"+s.dataspace).problem(http.StatusForbidden, "forbidden", "")
	grant("admin", http.StatusOK).exactly(all, append(pairs, "{role}", "admin", "{id}", o.text("id"))...)
	user.send("PUT", "/dataspaces/"+s.dataspace, object{"title": "mine"}).want(http.StatusOK)

	me := user.send("POST", "/privileges", object{"userId": "me", "dataspaceId": s.dataspace, "role": "editor"}).want(http.StatusOK)
	same(t, "me", me.object().text("userId"), user.id)
}

func TestUsageCountsFilesAndBytes(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	member := s.newMember("member")
	const none = `{
  "activeFiles": 0,
  "activeBytes": 0,
  "deletedFiles": 0,
  "deletedBytes": 0,
  "oldVersions": 0,
  "oldBytes": 0,
  "days": []
}
`
	path := "/dataspaces/" + s.dataspace + "/usage"
	same(t, "usage of an empty dataspace", string(member.get(path).want(http.StatusOK).body), none)
	set := s.newSet()
	first := s.upload(set, "a", "12345").text("id")
	s.upload(set, "b", "12345")
	s.send("DELETE", "/resources/"+first, nil).want(http.StatusNoContent)
	day := time.Now().UTC().Format(time.DateOnly)
	const counted = `{
  "activeFiles": 1,
  "activeBytes": 5,
  "deletedFiles": 1,
  "deletedBytes": 5,
  "oldVersions": 0,
  "oldBytes": 0,
  "days": [
    {
      "day": "{day}",
      "activeFiles": 1,
      "activeBytes": 5,
      "deletedFiles": 1,
      "deletedBytes": 5,
      "oldVersions": 0,
      "oldBytes": 0
    }
  ]
}
`
	member.get(path).want(http.StatusOK).exactly(counted, "{day}", day)
	whole := member.get("/usage").want(http.StatusOK).object()
	if files, _ := whole["activeFiles"].(float64); files < 1 || len(whole["days"].([]any)) != 1 {
		t.Errorf("usage of everything a member can read: %v", whole)
	}
	for _, line := range whole["dataspaces"].([]any) {
		if line := object(line.(map[string]any)); line.text("dataspaceId") == s.dataspace {
			same(t, "bytes of the dataspace", line["deletedBytes"], any(5.0))
			return
		}
	}
	t.Error("the usage of the dataspace is missing")
}

func TestStatusHidesDetailFromUsers(t *testing.T) {
	t.Parallel()
	c := sysadmin(t).withKey("")
	all := fmt.Sprintf(`{
  "status": "OK",
  "hostname": "host",
  "node": "host",
  "engine": %q,
  "version": "1.2.3",
  "anonymous": false
}
`, c.repo.Monitor.Condition(t.Context()).Engine)
	c.get("/status").want(http.StatusOK).exactly(all)
	c.send("HEAD", "/status", nil).want(http.StatusOK)
}
