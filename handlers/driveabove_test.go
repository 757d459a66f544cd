package handlers_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/handlers"
	"labshelf/repository"
)

// TestAboveTheDrive tests that each folder above the drive announces WebDAV, with and without a
// trailing slash.
func TestAboveTheDrive(t *testing.T) {
	oneNode(t)
	t.Parallel()
	for base, paths := range map[string][]string{
		"": {"/", "/dav", "/dav/"}, "http://127.0.0.1/deep/shelf/v1": {"/", "/deep", "/deep/", "/deep/shelf", "/deep/shelf/", "/deep/shelf/dav", "/deep/shelf/dav/"},
	} {
		var config handlers.Config
		if base != "" {
			config.BaseURL, _ = url.Parse(base)
		}
		c := ownGateway(t, repository.Config{}, config)
		for _, path := range paths {
			a := c.raw("OPTIONS", path, "", nil)
			same(t, "OPTIONS "+path, a.status, http.StatusOK)
			same(t, "DAV of OPTIONS "+path, a.header.Get("DAV"), "1, 2")
			for depth, entries := range map[string]int{"0": 1, "1": 2} {
				a := c.raw("PROPFIND", path, c.key, nil, "Depth: "+depth)
				same(t, "PROPFIND "+path, a.status, http.StatusMultiStatus)
				above := strings.TrimSuffix(path, "/") != strings.TrimSuffix(paths[len(paths)-1], "/")
				if got := strings.Count(string(a.body), "<D:response>"); above && got != entries {
					t.Errorf("PROPFIND %s has %d entries: %s", path, got, a.body)
				}
				if above && !strings.Contains(string(a.body), "<D:href>"+strings.TrimSuffix(path, "/")+"/</D:href>") {
					t.Errorf("PROPFIND %s: %s", path, a.body)
				}
			}
			a = c.raw("PROPFIND", path, "", nil, "Depth: 0")
			same(t, "PROPFIND without a key "+path, a.status, http.StatusUnauthorized)
		}
		if base != "" {
			for _, path := range []string{"/v1/status", "/dav/", "/deep/v1/status"} {
				a := c.raw("GET", path, c.key, nil)
				a.problem(http.StatusNotFound, errs.CodeNotFound, "")
				if detail := a.object().text("detail"); !strings.Contains(detail, "base_url") || !strings.Contains(detail, "/deep/shelf") {
					t.Errorf("%s: %s", path, detail)
				}
			}
		}
	}
}

// raw sends a request to an unchanged path, with a key as the password.
func (c *client) raw(method, path, key string, body io.Reader, headers ...string) *answer {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.server.URL+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if key != "" {
		request.SetBasicAuth("whoever", key)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return &answer{t: c.t, what: method + " " + path, status: response.StatusCode, header: response.Header, body: got}
}

// chunkedBody is a body of unknown length.
type chunkedBody struct{ io.Reader }

// TestEmptyChunkedBodies tests that an empty chunked body is treated as no body.
func TestEmptyChunkedBodies(t *testing.T) {
	t.Parallel()
	d := sysadmin(t).newDrive(nil)
	d.dav("PUT", "/a.txt", "content").want(http.StatusCreated)
	send := func(method, path, content string, headers ...string) *answer {
		return d.raw(method, d.folder+path, d.key, chunkedBody{strings.NewReader(content)}, headers...)
	}
	send("MKCOL", "/made", "").want(http.StatusCreated)
	send("MKCOL", "/other", "content").want(http.StatusUnsupportedMediaType)
	send("PROPFIND", "/a.txt", "", "Depth: 0").want(http.StatusMultiStatus)
	send("COPY", "/a.txt", "", "Destination: "+d.server.URL+d.folder+"/b.txt").want(http.StatusCreated)
	send("MOVE", "/b.txt", "", "Destination: "+d.server.URL+d.folder+"/c.txt").want(http.StatusCreated)
	token := d.dav("LOCK", "/a.txt", lockBody).want(http.StatusOK).header.Get("Lock-Token")
	send("LOCK", "/a.txt", "", "If: ("+token+")").want(http.StatusOK)
	send("UNLOCK", "/a.txt", "", "Lock-Token: "+token).want(http.StatusNoContent)
	send("DELETE", "/c.txt", "").want(http.StatusNoContent)
	send("GET", "/a.txt", "").want(http.StatusOK)
	bearer := "Authorization: Bearer " + d.key
	id := d.get("/sets/" + d.set + "/resources").data()[0].text("id")
	d.raw("POST", "/v1/users/"+d.newUser(nil).id+"/keys", "", chunkedBody{strings.NewReader("")}, bearer).want(http.StatusCreated)
	d.raw("POST", "/v1/resources/"+id+"/copy", "", chunkedBody{strings.NewReader(`{"name":"copy"}`)}, bearer, "Content-Type: application/json").want(http.StatusCreated)
	d.raw("POST", "/v1/uploads", "", chunkedBody{strings.NewReader("")}, bearer, "Content-Type: application/x", inTus, "Upload-Length: 3",
		uploadMetadata("setId", d.set, "filename", "c")).want(http.StatusCreated)
}

// TestKeysWithSpaceAround tests that white space around a key is ignored, however the key is sent.
func TestKeysWithSpaceAround(t *testing.T) {
	t.Parallel()
	c := sysadmin(t)
	for _, around := range []string{" ", "\n", "\r\n", "\t"} {
		c.raw("PROPFIND", "/dav/", c.key+around, nil, "Depth: 0").want(http.StatusMultiStatus)
		c.raw("PROPFIND", "/dav/", around+c.key+around, nil, "Depth: 0").want(http.StatusMultiStatus)
		c.send("POST", "/session", object{"key": around + c.key + around}).want(http.StatusOK)
	}
	for _, header := range []string{"Bearer  " + c.key + " ", c.key + " ", " Bearer " + c.key} {
		c.raw("GET", "/v1/users/me", "", nil, "Authorization: "+header).want(http.StatusOK)
	}
}
