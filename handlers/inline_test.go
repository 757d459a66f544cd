package handlers_test

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
)

// TestFlushChangesNoAnswer tests that an inline body gives the same answers before and after it is
// flushed to a file.
func TestFlushChangesNoAnswer(t *testing.T) {
	t.Parallel()
	for name, verified := range map[string]int64{"as it is": 0, "verified": math.MaxInt64} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := ownGateway(t, repository.Config{HoldUpTo: 100, VerifyReads: verified}, handlers.Config{})
			s := c.newSpace(nil)
			// An unfinished upload prevents flushing.
			slow := c.repo.Uploads.NewUpload(auth.Principal{})
			path := s.newFile("a.txt", "0123456789")
			digest := s.get(path).object().text("sha256")
			blob := filepath.Join(c.dir, "blobs", digest[:2], digest)
			ask := func() (answers []string) {
				tag := s.get(path + "/data").header.Get("ETag")
				for _, ask := range []struct {
					method, path string
					headers      []string
				}{
					{"GET", path, nil}, {"GET", path + "/data", nil}, {"HEAD", path + "/data", nil}, {"GET", path + "/data?disposition=inline", nil},
					{"GET", path + "/data", []string{"Range: bytes=2-5"}}, {"GET", path + "/data", []string{"Range: bytes=0-1,8-"}},
					{"GET", path + "/data", []string{"Range: bytes=10-"}}, {"GET", path + "/data", []string{"If-None-Match: " + tag}},
					{"GET", path + "/data", []string{"If-Match: \"other\""}}, {"GET", "/resources", nil}, {"GET", "/usage", nil},
				} {
					a := s.send(ask.method, ask.path, nil, ask.headers...)
					a.header.Del("Date")
					a.header.Del("X-Request-Id")
					body := string(a.body)
					if media := a.header.Get("Content-Type"); strings.HasPrefix(media, "multipart/") {
						_, boundary, _ := strings.Cut(media, "boundary=")
						body = strings.ReplaceAll(body, boundary, "boundary")
						a.header.Set("Content-Type", "multipart")
					}
					var lines []string
					for name, values := range a.header {
						lines = append(lines, name+": "+strings.Join(values, ", "))
					}
					slices.Sort(lines)
					if a.status >= 400 {
						body = "a problem with a separate id"
					}
					answers = append(answers, a.what+" "+http.StatusText(a.status)+"\n"+strings.Join(lines, "\n")+"\n"+body)
				}
				return answers
			}
			inline := ask()
			if _, err := os.Lstat(blob); err == nil && cluster() == "" { // another node does not know the upload
				t.Error("the body was flushed during an upload")
			}
			if err := slow.Discard(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "no body is inline", func() bool {
				var total metadata.BodyCount
				err := c.meta.View(t.Context(), func(tx *metadata.Tx) (err error) {
					total, err = tx.InlineBodies.Total()
					return err
				})
				return err == nil && total.Bodies == 0
			})
			for i, flushed := range ask() {
				same(t, "after the flush", flushed, inline[i])
			}
			if _, err := os.Lstat(blob); err != nil {
				t.Error(err)
			}
		})
	}
}
