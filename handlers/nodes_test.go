package handlers_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// twoGateways are two nodes of one service, over one file as if it could be shared.
func twoGateways(t *testing.T) (a, b *client, ofB *repositorytest.Shared) {
	t.Helper()
	dir := t.TempDir()
	store, err := blobs.OpenDir(dir, blobs.OS{})
	if err != nil {
		t.Fatal(err)
	}
	meta, err := bolt.Open(filepath.Join(dir, "labshelf.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := meta.Close(); err != nil {
			t.Error(err)
		}
	})
	node := func(name string) (*client, *repositorytest.Shared) {
		shared := &repositorytest.Shared{Store: meta}
		repo := repository.New(shared, store, repository.Config{Node: name, Version: "1.2.3", PageSize: 100, DirectoryPageSize: 100, IndexDir: filepath.Join(t.TempDir(), "index")})
		t.Cleanup(repo.Close)
		g := &gateway{dir: dir, meta: meta, repo: repo, log: &journal{}, names: &atomic.Int64{}}
		g.serve(handlers.Config{})
		t.Cleanup(g.server.Close)
		return &client{gateway: g, t: t}, shared
	}
	a, _ = node("a")
	if a.key, err = a.repo.Bootstrap(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	b, ofB = node("b")
	b.key, b.names = a.key, a.names
	return a, b, ofB
}

// TestDriveLocksOfNodes: a lock that a client of the drive takes at one node binds those at the other, which go on with it.
func TestDriveLocksOfNodes(t *testing.T) {
	t.Parallel()
	a, b, _ := twoGateways(t)
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
}

// TestFoundAtOtherNode: a search at one node finds what another one has stored.
func TestFoundAtOtherNode(t *testing.T) {
	t.Parallel()
	a, b, _ := twoGateways(t)
	ofA := a.newDrive(nil)
	ofA.dav("PUT", "/glacier.txt", "text").want(http.StatusCreated)
	if err := b.repo.Indexed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := b.get("/search?q=glacier").want(http.StatusOK); !strings.Contains(string(found.body), "glacier.txt") {
		t.Errorf("found %s", found.body)
	}
}

// TestStatusOfNodes: each node names itself; sysadmins see all.
func TestStatusOfNodes(t *testing.T) {
	t.Parallel()
	a, b, ofB := twoGateways(t)
	for _, c := range []*client{a, b} {
		for seen := 0; seen < 2; { // each says so as soon as it has started
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
