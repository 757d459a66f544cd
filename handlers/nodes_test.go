package handlers_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/handlers"
	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/postgres"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// sharedFile returns a function that opens one file, as if several processes could have it open.
func sharedFile(t *testing.T) (open func() metadata.Store) {
	t.Helper()
	meta, err := bolt.Open(filepath.Join(t.TempDir(), "labshelf.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closing(t, meta) })
	return func() metadata.Store { return meta }
}

// database returns a function that opens one database, with a separate store for each node.
func database(t *testing.T) (open func() metadata.Store) {
	t.Helper()
	address := servers.StartPostgres(t).Database(t)
	return func() metadata.Store {
		meta, err := postgres.Open(t.Context(), address, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closing(t, meta) })
		return meta
	}
}

func closing(t *testing.T, c io.Closer) {
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// onEngines runs a test with two nodes of one service, on each engine.
func onEngines(t *testing.T, test func(t *testing.T, a, b *client, ofA, ofB *repositorytest.Shared)) {
	t.Parallel()
	for name, engine := range map[string]func(*testing.T) func() metadata.Store{"one file": sharedFile, "PostgreSQL": database} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open, dir := engine(t), t.TempDir()
			store, err := directory.Open(dir, directory.OS{})
			if err != nil {
				t.Fatal(err)
			}
			node := func(name string) (*client, *repositorytest.Shared) {
				shared := &repositorytest.Shared{Store: open()}
				repo := repository.New(shared, store, repository.Config{
					Node: name, Version: "1.2.3", PageSize: 100, DirectoryPageSize: 100, HoldUpTo: 100, IndexDir: filepath.Join(t.TempDir(), "index"),
				})
				t.Cleanup(repo.Close)
				g := &gateway{dir: dir, repo: repo, log: &journal{}, names: &atomic.Int64{}}
				g.serve(handlers.Config{})
				t.Cleanup(g.server.Close)
				return &client{gateway: g, t: t}, shared
			}
			a, ofA := node("a")
			if a.key, err = a.repo.Users.Bootstrap(context.Background(), ""); err != nil {
				t.Fatal(err)
			}
			works(t, ofA.Store)
			b, ofB := node("b")
			b.key, b.names = a.key, a.names
			test(t, a, b, ofA, ofB)
		})
	}
}

// works waits until a single running node has the lease for background work.
func works(t *testing.T, meta metadata.Store) {
	t.Helper()
	for found := false; !found; {
		err := meta.View(t.Context(), func(tx *metadata.Tx) error {
			for _, err := range tx.Leases.Under("background") {
				found = true
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestDriveLocksOfNodes tests that a lock acquired at one node is valid at the other node, where
// its client can use it.
func TestDriveLocksOfNodes(t *testing.T) {
	onEngines(t, func(t *testing.T, a, b *client, _, _ *repositorytest.Shared) { driveLocks(t, a, b) })
}

func driveLocks(t *testing.T, a, b *client) {
	ofA := a.newDrive(nil)
	ofB := ofA.as(b)
	ofA.dav("PUT", "/f", "old").want(http.StatusCreated)
	token := ofA.dav("LOCK", "/f", lockBody).want(http.StatusOK).header.Get("Lock-Token")
	submit := "If: (" + token + ")"
	ofB.dav("PUT", "/f", "without").want(http.StatusLocked)
	ofB.dav("LOCK", "/f", lockBody).want(http.StatusLocked)
	ofB.dav("PUT", "/f", "with", submit).want(http.StatusNoContent)
	ofB.dav("LOCK", "/f", "", submit, "Timeout: Second-60").want(http.StatusOK)
	if found := string(ofA.dav("PROPFIND", "/f", "", "Depth: 0").want(http.StatusMultiStatus).body); !strings.Contains(found, "Second-60") || !strings.Contains(found, strings.Trim(token, "<>")) {
		t.Errorf("a shows %s", found)
	}
	ofB.dav("UNLOCK", "/f", "", "Lock-Token: "+token).want(http.StatusNoContent)
	ofA.dav("PUT", "/f", "after").want(http.StatusNoContent)
	ofA.dav("LOCK", "/f", lockBody).want(http.StatusOK)
	ofB.dav("DELETE", "/f", "").want(http.StatusLocked)
	editor := a.newUser(nil)
	space := a.get("/sets/" + ofA.set).object().text("dataspaceId")
	a.send("POST", "/privileges", object{"userId": editor.id, "dataspaceId": space, "role": "editor"}).want(http.StatusCreated)
	ofA.as(editor).dav("LOCK", "/g", lockBody).want(http.StatusCreated)
	ofB.dav("PUT", "/g", "x").want(http.StatusLocked)
	a.send("DELETE", "/users/"+editor.id, nil).want(http.StatusNoContent)
	ofB.dav("PUT", "/g", "x").want(http.StatusCreated) // the lock ends with its user, on each node
}

// TestSearchAtOtherNode tests that a search at one node finds objects that another node has stored.
func TestSearchAtOtherNode(t *testing.T) {
	onEngines(t, func(t *testing.T, a, b *client, _, _ *repositorytest.Shared) { foundAtOther(t, a, b) })
}

func foundAtOther(t *testing.T, a, b *client) {
	ofA := a.newDrive(nil)
	ofA.dav("PUT", "/glacier.txt", "text").want(http.StatusCreated)
	if err := b.repo.Search.Indexed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := b.get("/search?q=glacier").want(http.StatusOK); !strings.Contains(string(found.body), "glacier.txt") {
		t.Errorf("found %s", found.body)
	}
}

// TestStatusOfNodes tests that each node shows its name, and that sysadmins see all nodes.
func TestStatusOfNodes(t *testing.T) {
	onEngines(t, func(t *testing.T, a, b *client, _, ofB *repositorytest.Shared) { statusOfNodes(t, a, b, ofB) })
}

func statusOfNodes(t *testing.T, a, b *client, ofB *repositorytest.Shared) {
	for _, c := range []*client{a, b} {
		for seen := 0; seen < 2; { // each node registers soon after its start
			detail, _ := c.get("/status").object()["detail"].(map[string]any)
			all, _ := detail["nodes"].([]any)
			seen = len(all)
		}
	}
	same(t, "the node", b.withKey("").get("/status").object().text("node"), "b")
	ofB.Fail(metadata.ErrTooNew)
	b.get("/status").want(http.StatusServiceUnavailable)
	b.get("/dataspaces").problem(http.StatusServiceUnavailable, "newer_schema", "")
	a.get("/dataspaces").want(http.StatusOK)
	ofB.Fail(errors.New("no connection"))
	b.get("/dataspaces").problem(http.StatusInternalServerError, "internal", "")
}

// TestNodeDies tests that another node soon takes over the bodies and the pending work of a node
// that dies, and that acknowledged changes remain.
func TestNodeDies(t *testing.T) {
	onEngines(t, nodeDies)
}

func nodeDies(t *testing.T, a, b *client, ofA, _ *repositorytest.Shared) {
	inline := func() int64 { return b.repo.Monitor.Condition(t.Context()).Detail.Inline.Bodies }
	ofB := a.newDrive(nil).as(b)
	ofB.dav("PUT", "/first", "1").want(http.StatusCreated)
	for inline() > 0 { // a flushes the bodies that b has received
		time.Sleep(20 * time.Millisecond)
	}
	ofA.Fail(errors.New("killed"))
	began := time.Now()
	ofB.dav("PUT", "/second", "2").want(http.StatusCreated)
	for inline() > 0 {
		time.Sleep(20 * time.Millisecond)
	}
	if took := time.Since(began); took < time.Second || took > 20*time.Second {
		t.Errorf("b begins background work after %v", took)
	}
	for _, path := range []string{"/first", "/second"} {
		ofB.dav("GET", path, "").want(http.StatusOK)
	}
}

// TestRoleChangeAtOtherNode tests that if the role of a caller changes on one node, the next page
// on the other node applies the change, although that node has cached the caller.
func TestRoleChangeAtOtherNode(t *testing.T) {
	onEngines(t, func(t *testing.T, a, b *client, _, _ *repositorytest.Shared) { presumedAtOther(t, a, b) })
}

func presumedAtOther(t *testing.T, a, b *client) {
	caller := a.newUser(object{"sysadmin": true})
	atB, space := b.withKey(caller.key), a.newSpace(object{"quota": 1000, "visibility": "public"})
	set := space.newSet()
	quotas := func() int { return strings.Count(string(atB.get("/dataspaces").want(http.StatusOK).body), `"quota"`) }
	for range 10 { // b may learn of the change in the background before the request arrives
		a.send("PUT", "/users/"+caller.id, object{"sysadmin": true}).want(http.StatusOK)
		for range 2 {
			same(t, "quotas that a sysadmin is shown", quotas(), 1)
			atB.get("/sets/" + set + "/resources").want(http.StatusOK)
		}
		a.send("PUT", "/users/"+caller.id, object{"sysadmin": false}).want(http.StatusOK)
		same(t, "quotas that other users see", quotas(), 0)
		same(t, "dataspaces that are shown still", strings.Count(string(atB.get("/dataspaces").body), space.dataspace) > 0, true)
	}
	a.send("PUT", "/dataspaces/"+space.dataspace, object{"visibility": "private"}).want(http.StatusOK)
	atB.get("/sets/"+set+"/resources").problem(http.StatusForbidden, "forbidden", "")
	keys := a.get("/users/" + caller.id + "/keys").data()
	a.send("DELETE", "/users/"+caller.id+"/keys/"+keys[0].text("id"), nil).want(http.StatusNoContent)
	atB.get("/sets/"+set+"/resources").problem(http.StatusUnauthorized, "unauthenticated", "")
	atB.get("/dataspaces").problem(http.StatusUnauthorized, "unauthenticated", "")
}

// TestUploadAtTwoNodes tests that a chunked upload can continue and complete on another node. A key
// revoked on one node is refused by the next request on the other.
func TestUploadAtTwoNodes(t *testing.T) {
	onEngines(t, func(t *testing.T, a, b *client, _, _ *repositorytest.Shared) {
		set := a.newSpace(nil).newSet()
		at := strings.TrimPrefix(a.begin(10, "setId", set, "name", "parts"), a.base)
		a.chunk(at, 0, "01234").want(http.StatusNoContent)
		b.stands(b.base+at, 5, 10)
		b.chunk(at, 5, "567").want(http.StatusNoContent)
		a.chunk(at, 5, "567").problem(http.StatusConflict, "offset_mismatch", "Upload-Offset")
		a.chunk(at, 8, "89").want(http.StatusNoContent)
		made := b.stands(b.base+at, 10, 10)
		same(t, "the file", string(b.get(made+"/data").want(http.StatusOK).body), "0123456789")

		key := a.send("POST", "/users/me/keys", nil).want(http.StatusCreated).object()
		atB := b.withKey(key.text("key"))
		atB.get("/users/me").want(http.StatusOK)
		a.send("DELETE", "/users/me/keys/"+key.text("id"), nil).want(http.StatusNoContent)
		atB.get("/users/me").problem(http.StatusUnauthorized, "unauthenticated", "")
	})
}

// TestDriveLosesDatabaseAfterCommit tests a node that loses its database after it has deleted or
// moved a file, but before it has removed the locks of the path. The change persists, and the
// answer reports success.
func TestDriveLosesDatabaseAfterCommit(t *testing.T) {
	for _, method := range []string{"DELETE", "MOVE"} {
		t.Run(method, func(t *testing.T) {
			onEngines(t, func(t *testing.T, a, b *client, ofA, _ *repositorytest.Shared) {
				drive := a.newDrive(nil)
				drive.dav("PUT", "/f", "content").want(http.StatusCreated)
				set, _ := metadata.ParseID(drive.set)
				name := "f"
				ofA.AroundUpdates(func(_ context.Context, commit func() error) error {
					err := commit()
					there := false
					_ = ofA.Store.View(t.Context(), func(tx *metadata.Tx) error {
						there = false
						for _, err := range tx.Resources.Range(metadata.ResourceRange{Set: set, States: paging.Active, Order: paging.ByName, Name: &name}) {
							there = err == nil
						}
						return nil
					})
					if !there {
						ofA.Fail(metadata.ErrUnavailable)
					}
					return err
				})
				answer := drive.dav(method, "/f", "", "Destination: $/g")
				if answer.status != http.StatusNoContent && answer.status != http.StatusCreated {
					t.Errorf("%d %s", answer.status, answer.body)
				}
				drive.as(b).dav("GET", "/f", "").want(http.StatusNotFound)
			})
		})
	}
}
