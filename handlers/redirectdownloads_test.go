package handlers_test

import (
	"context"
	"net/http"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/repository"
)

// presigning is a blob store that returns a presigned URL for each file.
type presigning struct{ *directory.Store }

func (presigning) Presign(_ context.Context, b blobs.Blob, as blobs.Attachment) (string, error) {
	return "https://s3.example.org/" + b.Digest.String() + "?as=" + as.Filename, nil
}

// TestRedirectedDownload tests that, if configured, a client with a key is redirected to the blob
// store. A caller without read permission is not.
func TestRedirectedDownload(t *testing.T) {
	t.Parallel()
	c := gatewayOver(t, handlers.Config{RedirectDownloads: true}, repository.Config{}, func(dir *directory.Store) blobs.Folder { return presigning{dir} })
	s := c.newSpace(nil)
	file := s.newFile("a", "content")
	sent := s.send("GET", file+"/data", nil).want(http.StatusTemporaryRedirect)
	record := s.send("GET", file, nil).object()
	same(t, "Location", sent.header.Get("Location"), "https://s3.example.org/"+record["sha256"].(string)+"?as=a")
	same(t, "Cache-Control", sent.header.Get("Cache-Control"), "no-store")
	s.send("GET", file+"/data?disposition=inline", nil).want(http.StatusOK)
	c.newUser(nil).send("GET", file+"/data", nil).problem(http.StatusForbidden, "forbidden", "")
}
