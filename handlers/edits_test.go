package handlers_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// TestMetadataCSV downloads the metadata of a set, sends them back as they are, edited, and once more, and undoes the edit.
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
	same(t, "changed by what nobody edited", send(file, "").want(http.StatusOK).object()["changed"], 0.0)
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

// TestTooManyCSV: CSV files are in memory while they are read; beyond four at a time one is refused, and taken when another one is done.
func TestTooManyCSV(t *testing.T) {
	oneNode(t)
	t.Parallel()
	s := ownGateway(t, repository.Config{}, handlers.Config{}).newSpace(nil)
	set := s.newSet()
	s.upload(set, "a.txt", "content")
	path := "/sets/" + set + "/metadata"
	file := s.get(path).want(http.StatusOK).body
	var slow [4]atomic.Pointer[io.PipeWriter]
	answers := make(chan int)
	for i := range slow {
		go func() {
			for { // a whole file below may have the place when this one comes: it comes again
				body, w := io.Pipe()
				slow[i].Store(w)
				response, err := httpClient.Do(s.request("POST", path, body, []string{"Content-Type: text/csv"}))
				if err != nil {
					t.Error(err)
					answers <- 0
					return
				}
				_ = response.Body.Close()
				if response.StatusCode != http.StatusServiceUnavailable {
					answers <- response.StatusCode
					return
				}
				_ = w.Close() // nobody reads it any more
			}
		}()
	}
	whole := func() *answer { return s.send("POST", path, raw{"text/csv", file}) }
	for deadline := time.Now().Add(20 * time.Second); ; {
		if got := whole(); got.status != http.StatusOK {
			got.problem(http.StatusServiceUnavailable, errs.CodeUnavailable, "")
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("four files are being read, and a fifth is taken")
		}
	}
	for i := range slow {
		w := slow[i].Load()
		_, err := w.Write(file)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Error(err)
		}
		same(t, "a slow file", <-answers, http.StatusOK)
	}
	whole().want(http.StatusOK)
}
