package handlers_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"labshelf/handlers"
	"labshelf/repository"
)

const inTus = "Tus-Resumable: 1.0.0"

// uploadMetadata returns the header Upload-Metadata for alternating names and values.
func uploadMetadata(pairs ...string) string {
	var all []string
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, pairs[i]+" "+base64.StdEncoding.EncodeToString([]byte(pairs[i+1])))
	}
	return "Upload-Metadata: " + strings.Join(all, ",")
}

// inTime returns a sysadmin of a service whose uploads expire after an hour, and a function that
// advances its clock.
func inTime(t *testing.T) (c *client, pass func(time.Duration)) {
	var clock sync.Mutex
	now := time.Now()
	c = ownGateway(t, repository.Config{UploadAge: time.Hour, Now: func() time.Time {
		clock.Lock()
		defer clock.Unlock()
		return now
	}}, handlers.Config{})
	return c, func(d time.Duration) {
		clock.Lock()
		defer clock.Unlock()
		now = now.Add(d)
	}
}

// begin starts an upload, and returns its address.
func (c *client) begin(length int, pairs ...string) (location string) {
	c.t.Helper()
	a := c.send("POST", "/uploads", nil, inTus, fmt.Sprint("Upload-Length: ", length), uploadMetadata(pairs...)).want(http.StatusCreated)
	same(c.t, "Tus-Resumable", a.header.Get("Tus-Resumable"), "1.0.0")
	if !strings.HasPrefix(a.header.Get("Location"), c.base+"/uploads/") {
		c.t.Errorf("Location is %q", a.header.Get("Location"))
	}
	if at, err := http.ParseTime(a.header.Get("Upload-Expires")); err != nil || !at.After(time.Now()) {
		c.t.Errorf("Upload-Expires is %q", a.header.Get("Upload-Expires"))
	}
	return a.header.Get("Location")
}

// chunk sends a chunk.
func (c *client) chunk(location string, offset int, content string, headers ...string) *answer {
	c.t.Helper()
	return c.send("PATCH", location, raw{"application/offset+octet-stream", []byte(content)},
		append([]string{inTus, fmt.Sprint("Upload-Offset: ", offset)}, headers...)...)
}

// head requests the progress of an upload. It repeats the request while another request uses the
// upload.
func (c *client) head(location string) *answer {
	c.t.Helper()
	for {
		if a := c.send("HEAD", location, nil, inTus); a.status != http.StatusLocked {
			return a.want(http.StatusOK)
		}
	}
}

// stands checks the progress of an upload, and returns the id of the resource that it has become,
// if any.
func (c *client) stands(location string, offset, length int) (resource string) {
	c.t.Helper()
	a := c.head(location)
	same(c.t, "how far it is", a.header.Get("Upload-Offset")+"/"+a.header.Get("Upload-Length"), fmt.Sprint(offset, "/", length))
	same(c.t, "Cache-Control", a.header.Get("Cache-Control"), "no-store")
	return a.header.Get("Labshelf-Resource")
}

// refusedHead checks that HEAD reports why a complete upload is refused.
func (c *client) refusedHead(location string, status int) {
	c.t.Helper()
	a := c.send("HEAD", location, nil, inTus).want(status)
	same(c.t, "Cache-Control of a refusal", a.header.Get("Cache-Control"), "no-store")
	if at, there := a.header["Upload-Offset"]; there {
		c.t.Errorf("a refused upload has the offset %q", at)
	}
}
