package handlers_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"

	"labshelf/auth"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/files"
)

// states returns the states of several objects.
func (c *client) states(paths ...string) (states []string) {
	c.t.Helper()
	for _, path := range paths {
		states = append(states, c.get(path).want(http.StatusOK).object().text("state"))
	}
	return states
}

func (c *client) wantStates(what string, paths []string, want ...string) {
	c.t.Helper()
	if got := c.states(paths...); !slices.Equal(got, want) {
		c.t.Errorf("%s: %v, want %v", what, got, want)
	}
}

const active, deleted = "active", "deleted"

// TestSetDeletionDeletesResources tests that deleting a set deletes its active resources, and that
// restoring the set restores exactly these.
func TestSetDeletionDeletesResources(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	editor := s.newMember("editor")
	set, resources := "/sets/"+s.first, []string{"/resources/" + s.a, "/resources/" + s.b, "/resources/" + s.c, "/resources/" + s.other}
	before := editor.get(resources[0]).object()
	editor.send("DELETE", set, nil).want(http.StatusNoContent)
	editor.wantStates("after deleting", append(resources, set), deleted, deleted, deleted, active, deleted)
	gone := editor.get(resources[0]).object()
	if gone["modified_epoch"].(float64) < before["modified_epoch"].(float64) || gone.text("modifiedBy") != editor.id || gone.text("created") != before.text("created") {
		t.Errorf("a resource deleted with its set: %v, before %v", gone, before)
	}
	editor.get(resources[0]+"/data").problem(http.StatusGone, "resource_deleted", "")
	editor.expect("/sets/" + s.first + "/resources")
	editor.expect("/dataspaces/"+s.dataspace+"/sets", s.second)

	tag := editor.get(set).header.Get("ETag")
	same(t, "the tag after deleting again", editor.send("DELETE", set, nil).want(http.StatusNoContent).header.Get("ETag"), tag)
	editor.send("POST", "/resources", form(text("setId", s.first), file("n", "new"))).problem(http.StatusConflict, "parent_deleted", "setId")
	editor.send("POST", "/resources", form(file("n", "new"), text("setId", s.first))).problem(http.StatusConflict, "parent_deleted", "setId")
	editor.send("POST", resources[0]+"/restore", nil).problem(http.StatusConflict, "parent_deleted", "")
	editor.send("PUT", set, object{"title": "x"}).problem(http.StatusConflict, "deleted", "")
	editor.send("PATCH", resources[0], object{"name": "x"}).problem(http.StatusConflict, "deleted", "")
	editor.send("PUT", resources[0], form(file("n", "new"))).problem(http.StatusConflict, "deleted", "")
	name := editor.get(set).object().text("name")
	editor.send("POST", "/sets", object{"name": name, "dataspaceId": s.dataspace}).problem(http.StatusConflict, "set_name_taken", "name")

	restored := editor.send("POST", set+"/restore", nil).want(http.StatusOK)
	same(t, "the answer to the restoration", string(restored.body), string(editor.get(set).body))
	editor.wantStates("after restoring", append(resources, set), active, deleted, active, active, active)
	same(t, "the file", string(editor.get(resources[0]+"/data").want(http.StatusOK).body), "1")
	again := editor.send("POST", set+"/restore", nil).want(http.StatusOK)
	same(t, "restoring an active set", again.header.Get("ETag"), restored.header.Get("ETag"))
	editor.send("POST", resources[1]+"/restore", nil).want(http.StatusOK)
	again = editor.send("POST", resources[1]+"/restore", nil).want(http.StatusOK)
	same(t, "the state after a second restoration", again.object().text("state"), active)
}

// TestDataspaceDeletionDeletesSets tests that deleting a dataspace deletes its sets, and that
// restoring it restores them. Resources deleted with their set stay deleted with that set.
func TestDataspaceDeletionDeletesSets(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	member := s.newMember("member")
	third := s.newSet()
	inThird := s.upload(third, "t", "t").text("id")
	space := "/dataspaces/" + s.dataspace
	paths := []string{space, "/sets/" + s.first, "/sets/" + s.second, "/sets/" + third,
		"/resources/" + s.a, "/resources/" + s.b, "/resources/" + s.c, "/resources/" + s.other, "/resources/" + inThird}
	s.send("DELETE", "/sets/"+third, nil).want(http.StatusNoContent)
	s.send("DELETE", space, nil).want(http.StatusNoContent)
	s.send("DELETE", space, nil).want(http.StatusNoContent)
	member.wantStates("after deleting", paths, deleted, deleted, deleted, deleted, deleted, deleted, deleted, deleted, deleted)
	member.expect(space + "/sets")
	member.expect(space+"/sets?state=deleted", s.first, s.second, third)
	all, _ := member.walk(space + "/resources?state=all")
	same(t, "resources below a deleted dataspace", len(all), 5)

	s.send("POST", "/sets", object{"name": s.name("set"), "dataspaceId": s.dataspace}).problem(http.StatusConflict, "parent_deleted", "dataspaceId")
	s.send("POST", "/sets/"+s.first+"/restore", nil).problem(http.StatusConflict, "parent_deleted", "")
	s.send("POST", "/resources/"+s.a+"/restore", nil).problem(http.StatusConflict, "parent_deleted", "")
	s.send("POST", "/resources", form(text("setId", s.first), file("n", "new"))).problem(http.StatusConflict, "parent_deleted", "setId")
	s.send("PUT", space, object{"title": "x"}).problem(http.StatusConflict, "deleted", "")
	s.send("POST", "/privileges", object{"userId": member.id, "dataspaceId": s.dataspace, "role": "admin"}).problem(http.StatusConflict, "parent_deleted", "dataspaceId")
	name := s.get(space).object().text("name")
	s.send("POST", "/dataspaces", object{"name": name}).problem(http.StatusConflict, "dataspace_name_taken", "name")
	same(t, "roles stay", len(member.get("/privileges?dataspaceId="+s.dataspace).data()), 2)

	s.send("POST", space+"/restore", nil).want(http.StatusOK)
	s.send("POST", space+"/restore", nil).want(http.StatusOK)
	member.wantStates("after restoring", paths, active, active, active, deleted, active, deleted, active, active, deleted)
	s.send("POST", "/sets/"+third+"/restore", nil).want(http.StatusOK)
	member.wantStates("after restoring the set", paths[8:], active)
}

// TestDeletionOfManyBatches deletes and restores more objects than one batch contains.
func TestDeletionOfManyBatches(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	set := s.newSet()
	const many = 450
	s.fill(set, many)
	s.send("DELETE", "/sets/"+set, nil).want(http.StatusNoContent)
	count := func(state string) int {
		items, _ := s.walk("/sets/" + set + "/resources?limit=1000&state=" + state)
		return len(items)
	}
	same(t, "deleted", count(deleted), many)
	s.send("POST", "/sets/"+set+"/restore", nil).want(http.StatusOK)
	same(t, "restored", count(active), many)
	same(t, "still deleted", count(deleted), 0)
}

// fill adds many small files to a set, directly through the repository.
func (s *space) fill(set string, many int) {
	s.t.Helper()
	caller, err := s.repo.Credentials.Authenticate(context.Background(), s.key, auth.Origin{})
	if err != nil {
		s.t.Fatal(err)
	}
	var uploads sync.WaitGroup
	limit := make(chan struct{}, 64)
	for range many {
		uploads.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			upload := s.repo.Uploads.NewUpload(caller)
			if err := upload.Receive(context.Background(), http.NoBody); err != nil {
				s.t.Error(err)
				return
			}
			if _, err := upload.Create(context.Background(), files.UploadFields{SetID: &set, Filename: "f"}); err != nil {
				s.t.Error(err)
			}
			if err := upload.Discard(); err != nil {
				s.t.Error(err)
			}
		})
	}
	uploads.Wait()
}

// TestConflictingCascadesAreBusy tests that a request that conflicts with a deletion or restoration
// in progress is refused. The test writes the row of the cascade itself.
func TestConflictingCascadesAreBusy(t *testing.T) {
	oneNode(t)
	t.Parallel()
	for _, restore := range []bool{false, true} {
		s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
		set, empty := s.newSet(), "/dataspaces/"+s.newSpace(nil).dataspace
		space, inside := "/dataspaces/"+s.dataspace, "/sets/"+set
		busy := func(a *answer) {
			t.Helper()
			same(t, "Retry-After", a.problem(http.StatusConflict, "busy", "").header.Get("Retry-After"), "1")
		}
		for _, container := range []string{s.dataspace, set} {
			s.underWay(container, s.dataspace, restore)
			if container == set {
				busy(s.send("DELETE", space, nil))
				busy(s.send("POST", space+"/restore", nil))
			} else {
				busy(s.send("DELETE", inside, nil))
				busy(s.send("POST", inside+"/restore", nil))
			}
			opposite, own := []string{"POST", "/restore"}, map[string]string{set: inside, s.dataspace: space}[container]
			if restore {
				opposite = []string{"DELETE", ""}
			}
			busy(s.send(opposite[0], own+opposite[1], nil))
			if restore {
				busy(s.get(inside + "/archive")) // the archive would lack some files
			}
			s.send("DELETE", empty, nil).want(http.StatusNoContent)
			s.send("POST", empty+"/restore", nil).want(http.StatusOK)
			s.stepDone(container)
		}
	}
}

func (s *space) underWay(container, dataspace string, restore bool) {
	s.t.Helper()
	s.steps(func(steps metadata.Table[metadata.ID, metadata.Cascade]) error {
		return steps.Put(metadata.Cascade{
			Container: ulid.MustParse(container), DataspaceID: ulid.MustParse(dataspace), Restore: restore, Deletion: 1, Begun: 2,
		})
	})
}

func (s *space) stepDone(container string) {
	s.t.Helper()
	s.steps(func(steps metadata.Table[metadata.ID, metadata.Cascade]) error {
		return steps.Remove(ulid.MustParse(container))
	})
}

func (s *space) steps(fn func(metadata.Table[metadata.ID, metadata.Cascade]) error) {
	s.t.Helper()
	if err := s.meta.Update(context.Background(), func(tx *metadata.Tx) error { return fn(tx.Cascades) }); err != nil {
		s.t.Fatal(err)
	}
}

func TestUserDeletionEndsKeys(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	user := s.newMember("editor")
	path := "/users/" + user.id
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	user.get("/users/me").problem(http.StatusUnauthorized, "unauthenticated", "")
	same(t, "state", s.get(path).object().text("state"), deleted)
	s.send("PUT", path, object{"about": "x"}).problem(http.StatusConflict, "deleted", "")
	s.send("POST", path+"/keys", nil).problem(http.StatusConflict, "user_deleted", "")
	s.send("POST", "/privileges", object{"userId": user.id, "dataspaceId": s.dataspace, "role": "admin"}).problem(http.StatusConflict, "user_deleted", "userId")
	name := s.get(path).object().text("username")
	s.send("POST", "/users", object{"username": name}).problem(http.StatusConflict, "username_taken", "username")
	s.send("POST", path+"/restore", nil).want(http.StatusOK)
	s.send("POST", path+"/restore", nil).want(http.StatusOK)
	user.get("/users/me").problem(http.StatusUnauthorized, "unauthenticated", "")
	keys, _ := s.walk(path + "/keys")
	same(t, "the old key", keys[0].text("state"), "revoked")
	user.key = s.send("POST", path+"/keys", object{}).want(http.StatusCreated).object().text("key")
	user.send("PUT", "/sets/"+s.newSet(), object{"title": "still an editor"}).want(http.StatusOK)
}

// TestLastSysadminRemains tests that at least one sysadmin remains active.
func TestLastSysadminRemains(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	me := "/users/" + c.get("/users/me").object().text("id")
	refused := func() {
		t.Helper()
		c.send("DELETE", me, nil).problem(http.StatusConflict, "last_sysadmin", "")
		c.send("PUT", me, object{"sysadmin": false}).problem(http.StatusConflict, "last_sysadmin", "")
	}
	refused()
	other := c.newUser(object{"sysadmin": true})
	c.send("DELETE", "/users/"+other.id, nil).want(http.StatusNoContent)
	refused()
	c.send("POST", "/users/"+other.id+"/restore", nil).want(http.StatusOK)
	c.send("PUT", "/users/"+other.id, object{"sysadmin": false}).want(http.StatusOK)
	refused()
	c.send("PUT", "/users/"+other.id, object{"sysadmin": true}).want(http.StatusOK)
	c.send("PUT", me, object{"sysadmin": false, "about": "was sysadmin"}).want(http.StatusOK)
	c.send("PUT", me, object{"sysadmin": true}).problem(http.StatusForbidden, "forbidden", "")
}
