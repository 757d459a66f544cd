package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"labshelf/handlers"
	"labshelf/repository"
)

// TestMetadataCSV downloads the metadata of a set as CSV. It sends the file back unchanged, edited,
// and edited again, and undoes the edit.
func TestMetadataCSV(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	set := s.newSet()
	resource := s.upload(set, "a.txt", "content").text("id")
	s.send("PATCH", "/resources/"+resource, object{"metadata": object{"properties": object{"n": 1}}}).want(http.StatusOK)
	path := "/sets/" + set + "/metadata"
	got := s.get(path).want(http.StatusOK)
	same(t, "Content-Type", got.header.Get("Content-Type"), "text/csv; charset=utf-8")
	same(t, "with semicolons", strings.HasPrefix(string(s.get(path+"?separator=semicolon").want(http.StatusOK).body), "\ufeffid;etag;"), true)
	file := string(got.body)
	edited := strings.Replace(file, ",1\r\n", ",2\r\n", 1)
	send := func(text, query string) *answer {
		return s.send("POST", path+query, raw{"text/csv; charset=utf-8", []byte(text)})
	}
	same(t, "changed by an unedited file", send(file, "").want(http.StatusOK).object()["changed"], 0.0)
	before := s.get("/resources/" + resource).header.Get("ETag")
	same(t, "changed in the preview", send(edited, "?preview=true").want(http.StatusOK).object()["changed"], 1.0)
	same(t, "ETag after the preview", s.get("/resources/"+resource).header.Get("ETag"), before)
	edit := send(edited, "").want(http.StatusOK).object()["edit"].(map[string]any)
	same(t, "objects", edit["objects"], 1.0)
	send(strings.Replace(edited, ",2\r\n", ",3\r\n", 1), "").problem(http.StatusPreconditionFailed, "precondition_failed", "")
	undone := s.send("POST", "/edits/"+edit["id"].(string)+"/undo", nil).want(http.StatusOK).object()
	same(t, "undone", undone["changed"], 1.0)
	s.bad("POST", path, raw{"text/csv", []byte("id,etag\n" + resource + ",x,y\n")}).problem(http.StatusBadRequest, "invalid_field", "")
	s.bad("POST", path+"?preview=1", object{}).problem(http.StatusBadRequest, "invalid_parameter", "preview")
	s.bad("GET", path+"?separator=x", nil).problem(http.StatusBadRequest, "invalid_parameter", "separator")
	s.bad("POST", path, raw{"text/csv", make([]byte, 32<<20+1)}).problem(http.StatusRequestEntityTooLarge, "too_large", "")
	s.send("DELETE", "/sets/"+set, nil)
	send(file, "").problem(http.StatusConflict, "deleted", "")
	s.send("POST", "/edits/"+edit["id"].(string)+"/undo", nil).problem(http.StatusConflict, "deleted", "")
}
