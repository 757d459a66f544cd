package handlers_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// TestEqualUploadsShareOneBlob tests that concurrent uploads of the same content share one blob,
// with separate records.
func TestEqualUploadsShareOneBlob(t *testing.T) {
	t.Parallel()
	c := ownGateway(t, repository.Config{}, handlers.Config{})
	s := c.newSpace(nil)
	set, content := s.newSet(), strings.Repeat("the same ", 10_000)
	const many = 32
	uploads := make([]object, many)
	var senders sync.WaitGroup
	for i := range uploads {
		senders.Go(func() { uploads[i] = c.upload(set, fmt.Sprintf("f%d", i), content) })
	}
	senders.Wait()
	same(t, "files on the disk", len(c.disk(t)), 1)
	same(t, "temporary files", len(c.temporary(t)), 0)
	items, _ := c.walk("/sets/" + set + "/resources?limit=5")
	different, stamps := map[string]bool{}, map[string]bool{}
	for _, item := range items {
		different[item.text("id")], stamps[item.text("name")] = true, true
		same(t, "sha256", item.text("sha256"), sha256Hex(content))
	}
	same(t, "records", len(items), many)
	same(t, "different ids", len(different), many)
	same(t, "different names", len(stamps), many)
	for _, o := range uploads {
		same(t, "the file", string(c.get("/resources/"+o.text("id")+"/data").want(http.StatusOK).body), content)
	}
}

// TestConcurrentRequestsForOneName tests that if several concurrent requests create a set with the
// same name, one succeeds.
func TestConcurrentRequestsForOneName(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	for _, tc := range []struct {
		path  string
		body  object
		field string
		code  errs.Code
	}{
		{"/sets", object{"name": s.name("same"), "dataspaceId": s.dataspace}, "name", "set_name_taken"},
		{"/dataspaces", object{"name": s.name("same")}, "name", "dataspace_name_taken"},
		{"/users", object{"username": s.name("same")}, "username", "username_taken"},
	} {
		var mu sync.Mutex
		var senders sync.WaitGroup
		made := 0
		for range 16 {
			senders.Go(func() {
				a := s.send("POST", tc.path, tc.body)
				mu.Lock()
				defer mu.Unlock()
				if a.status == http.StatusCreated {
					made++
				} else {
					a.problem(http.StatusConflict, tc.code, tc.field)
				}
			})
		}
		senders.Wait()
		same(t, tc.path+": created", made, 1)
	}
}

// TestDownloadSurvivesReplacement tests that a download continues with the version that it began
// with.
func TestDownloadSurvivesReplacement(t *testing.T) {
	t.Parallel()
	s := sysadmin(t).newSpace(nil)
	old := strings.Repeat("old", 4<<20)
	path := s.newFile("a", old)
	request := s.request("GET", path+"/data", nil, nil)
	response, err := httpClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	s.send("PUT", path, form(file("a", "new"))).want(http.StatusOK)
	s.send("DELETE", path, nil).want(http.StatusNoContent)
	got, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil || string(got) != old {
		t.Errorf("received %d bytes, %v", len(got), err)
	}
}
