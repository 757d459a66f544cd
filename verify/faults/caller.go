package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"labshelf/verify/e2e"
)

// caller sends requests and keeps all of each answer. It is safe for concurrent use.
type caller struct {
	base, key string
	http      *http.Client
}

// newCaller returns a caller with the sysadmin's key that the service over this data directory made.
func newCaller(base, data string) (*caller, error) {
	key, err := os.ReadFile(filepath.Join(data, e2e.KeyFile))
	return &caller{base: base, key: strings.TrimSpace(string(key)), http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute,
	}}, err
}

// answer is what came back, in full.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call sends a request with in as JSON, unless it is nil. The url is one that the service gave, or a path below the base URL.
// The error is that of the connection, or of an answer that was cut off.
func (c *caller) call(ctx context.Context, method, url string, in any) (answer, error) {
	var body io.Reader
	contentType := ""
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return answer{}, err
		}
		body, contentType = bytes.NewReader(text), "application/json"
	}
	return c.send(ctx, method, url, contentType, body)
}

// upload sends a file with fields, to create a resource or to replace one.
func (c *caller) upload(ctx context.Context, method, url string, fields map[string]string, content []byte) (answer, error) {
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for name, value := range fields {
		if err := parts.WriteField(name, value); err != nil {
			return answer{}, err
		}
	}
	file, err := parts.CreateFormFile("file", "file.bin")
	if err != nil {
		return answer{}, err
	}
	if _, err := file.Write(content); err != nil {
		return answer{}, err
	}
	if err := parts.Close(); err != nil {
		return answer{}, err
	}
	return c.send(ctx, method, url, parts.FormDataContentType(), &form)
}

func (c *caller) send(ctx context.Context, method, url, contentType string, body io.Reader) (answer, error) {
	header := http.Header{}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	return c.exchange(ctx, method, url, header, body)
}

func (c *caller) exchange(ctx context.Context, method, url string, header http.Header, body io.Reader) (a answer, err error) {
	// A service that was started again has another port, and the addresses that it gave before are still good.
	if _, path, ok := strings.Cut(url, "/v1/"); ok {
		url = "/" + path
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+url, body)
	if err != nil {
		return a, err
	}
	request.Header = header
	request.Header.Set("Authorization", c.key)
	response, err := c.http.Do(request)
	if err != nil {
		return a, err
	}
	defer func() { _ = response.Body.Close() }() // what there was has been read
	a.status, a.header = response.StatusCode, response.Header
	a.body, err = io.ReadAll(response.Body)
	return a, err
}

// record is an object as the service shows it: all kinds in one.
type record struct {
	ID, URL, DataURL, Name, Title, Description, Format string
	SetID, DataspaceID, State, SHA256, Modified        string
	Bytes                                              int64
	Purged                                             bool
}

// page is one page of a listing.
type page struct {
	NextPage, CurrentPage string
	Data                  []record
	End                   bool
}

// get fetches url into out. Anything but a success is an error.
func (c *caller) get(ctx context.Context, url string, out any) error {
	return c.want(ctx, http.MethodGet, url, nil, out)
}

// want is call for requests that must succeed; the answer goes into out, unless that is nil.
func (c *caller) want(ctx context.Context, method, url string, in, out any) error {
	a, err := c.call(ctx, method, url, in)
	if err == nil && a.status/100 != 2 {
		err = a.refusal()
	}
	if err == nil && out != nil {
		err = json.Unmarshal(a.body, out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, url, err)
	}
	return nil
}

// walk calls fn for each object of a listing, from url to its end, and returns the URL that a harvester keeps.
func (c *caller) walk(ctx context.Context, url string, fn func(record) error) (kept string, err error) {
	for {
		var p page
		if err := c.get(ctx, url, &p); err != nil {
			return url, err
		}
		if p.End {
			return url, nil
		}
		if p.NextPage == "" || len(p.Data) == 0 {
			return url, fmt.Errorf("%s answered with a page that has neither results nor the end", url)
		}
		for _, r := range p.Data {
			if err := fn(r); err != nil {
				return url, err
			}
		}
		url = p.NextPage
	}
}

// problem is the body of a refusal.
type problem struct{ Code, Detail string }

func (a answer) problem() (p problem) {
	_ = json.Unmarshal(a.body, &p) // what is no problem document has no code
	return p
}

// refusal describes an answer that was not expected.
func (a answer) refusal() error {
	return fmt.Errorf("answered %d: %s", a.status, bytes.TrimSpace(a.body[:min(len(a.body), 2000)]))
}

// uploaded creates a resource and returns it.
func uploaded(ctx context.Context, c *caller, set string, body []byte) (r record, err error) {
	a, err := c.upload(ctx, http.MethodPost, "/resources", map[string]string{"setId": set, "name": "a file"}, body)
	if err == nil && a.status != http.StatusCreated {
		err = a.refusal()
	}
	if err == nil {
		err = json.Unmarshal(a.body, &r)
	}
	return r, err
}
