package handlers_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/handlers"
	"labshelf/repository"
)

// harm flips a bit in the blob with this content, and lets the service detect it.
func (s *space) harm(path, content string) {
	s.t.Helper()
	wrong := []byte(content)
	wrong[len(wrong)/2] ^= 1
	if err := os.WriteFile(s.blobFile(content), wrong, 0o600); err != nil {
		s.t.Fatal(err)
	}
	response, err := httpClient.Do(s.request("GET", path+"/data", nil, nil))
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // the test ignores how the download ends
	_ = response.Body.Close()
	same(s.t, "damaged", s.damaged(), 1)
}

// TestRecordReportsDamage tests that a record, and each listing that contains it, reports a damaged
// file. Every way to upload the same bytes repairs the file, and then no record reports it.
func TestRecordReportsDamage(t *testing.T) {
	t.Parallel()
	tus := func(s *space, content string, pairs ...string) {
		s.t.Helper()
		s.chunk(s.begin(len(content), pairs...), 0, content).want(http.StatusNoContent)
	}
	ways := map[string]func(s *space, path, content string){
		"a form": func(s *space, path, content string) {
			s.t.Helper()
			s.send("POST", "/resources", form(text("setId", s.newSet()), file("b", content))).want(http.StatusCreated)
		},
		"a replacement by form": func(s *space, path, content string) {
			s.t.Helper()
			a := s.send("PUT", path, form(file("a.txt", content)), "If-Match: "+s.get(path).header.Get("ETag")).want(http.StatusOK)
			same(s.t, "the answer reports the damage", a.object()["damaged"], nil)
		},
		"tus": func(s *space, path, content string) {
			s.t.Helper()
			tus(s, content, "setId", s.newSet(), "filename", "b", "sha256", sha256Hex(content))
		},
		"a replacement by tus": func(s *space, path, content string) {
			s.t.Helper()
			tus(s, content, "resourceId", path[len("/resources/"):], "filename", "a.txt")
		},
	}
	for what, send := range ways {
		for _, size := range []int{1000, 200_000} {
			t.Run(fmt.Sprint(what, " of ", size), func(t *testing.T) {
				t.Parallel()
				// No earlier body may be inline, because inline bodies have no file to damage.
				// Later bodies may be inline.
				c := ownGateway(t, repository.Config{VerifyReads: math.MaxInt64}, handlers.Config{})
				s := c.newSpace(nil)
				content := strings.Repeat("x", size)
				set := s.newSet()
				path := "/resources/" + s.upload(set, "a.txt", content).text("id")
				twin := "/resources/" + s.upload(set, "twin", content).text("id")
				sound := "/resources/" + s.upload(set, "sound", "other").text("id")
				s.harm(path, content)
				says := func(want any) {
					t.Helper()
					for path, want := range map[string]any{path: want, twin: want, sound: nil} {
						same(t, path, s.get(path).object()["damaged"], want)
					}
					for _, listing := range []string{"/resources", "/sets/" + set + "/resources", "/sets/" + set + "/resources?order=name", "/dataspaces/" + s.dataspace + "/resources"} {
						for _, r := range s.get(listing).data() {
							want := want
							if r.text("name") == "sound" {
								want = nil
							}
							same(t, listing+" "+r.text("name"), r["damaged"], want)
						}
					}
				}
				says(true)
				send(s, path, content)
				same(t, "damaged", s.damaged(), 0)
				says(nil)
				same(t, "the file", string(s.get(twin+"/data").want(http.StatusOK).body), content)
			})
		}
	}
}

// TestSmallUploadRepairsImmediately tests that a small body with the content of a damaged blob is
// written to a file immediately. It does not become an inline body.
func TestSmallUploadRepairsImmediately(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{HoldUpTo: 100, VerifyReads: math.MaxInt64}, handlers.Config{}).newSpace(nil)
	content := strings.Repeat("x", 100)
	path := s.newFile("a.txt", content)
	eventually(t, "it is a file", func() bool {
		_, err := os.Stat(s.blobFile(content))
		return err == nil
	})
	eventually(t, "its row reports the file", func() bool {
		detail, _ := s.get("/status").object()["detail"].(map[string]any)
		held, _ := detail["held"].(map[string]any)
		return held["files"] == 0.0
	})
	s.harm(path, content)
	slow := s.repo.Uploads.NewUpload(auth.Principal{}) // an unfinished upload prevents flushing inline bodies
	defer func() { same(t, "discarding", slow.Discard(), nil) }()
	s.newFile("b.txt", content)
	same(t, "damaged", s.damaged(), 0)
	same(t, "the file", string(s.get(path+"/data").want(http.StatusOK).body), content)
}

// TestDamagedRecordHasItsOwnTag tests that the record of a damaged file has another tag, so that
// clients fetch it again. Preconditions of changes accept both tags, because damage does not change
// the version.
func TestDamagedRecordHasItsOwnTag(t *testing.T) {
	t.Parallel()
	s := ownGateway(t, repository.Config{VerifyReads: math.MaxInt64}, handlers.Config{}).newSpace(nil)
	path := s.newFile("a.txt", "content")
	sound := s.get(path).header.Get("ETag")
	s.harm(path, "content")
	damaged := s.get(path, "If-None-Match: "+sound).want(http.StatusOK).header.Get("ETag")
	same(t, "the tag stays", sound == damaged, false)
	s.get(path, "If-None-Match: "+damaged).want(http.StatusNotModified)
	for _, tag := range []string{sound, damaged} {
		s.get(path, "If-Match: "+tag).want(http.StatusOK)
		s.send("PATCH", path, object{"name": "a.txt"}, "If-Match: "+tag).want(http.StatusOK)
		s.send("PATCH", path, object{"name": "b"}, "If-None-Match: "+tag).problem(http.StatusPreconditionFailed, "precondition_failed", "")
	}
	s.send("PATCH", path, object{"name": "b", "damaged": true}).want(http.StatusOK)
	s.send("PATCH", path, object{"damaged": false}).problem(http.StatusConflict, "read_only_field", "damaged")
	changed := s.get(path).header.Get("ETag")
	s.send("PATCH", path, object{"name": "c"}, "If-Match: "+damaged).problem(http.StatusPreconditionFailed, "precondition_failed", "")
	same(t, "the tag of the deleted one", s.send("DELETE", path, nil, "If-Match: "+changed).want(http.StatusNoContent).header.Get("ETag"), s.get(path).header.Get("ETag"))
	same(t, "the deleted one is damaged, too", s.get(path).object()["damaged"], any(true))
	same(t, "and so is the restored one", s.send("POST", path+"/restore", nil).want(http.StatusOK).object()["damaged"], any(true))
	before := s.get(path).header.Get("ETag")
	s.newFile("again", "content")
	healed := s.get(path, "If-None-Match: "+before).want(http.StatusOK)
	same(t, "damaged", healed.object()["damaged"], nil)
}
