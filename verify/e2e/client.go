package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// callLimit is the maximum duration of a call, except a download. A service that hangs fails the
// call, but not the whole test.
const callLimit = 5 * time.Minute

// Client calls the HTTP API and returns complete answers, including refusals. It does not use
// package client, which is also tested with it. It keeps its connections, and is safe for
// concurrent use.
type Client struct {
	base, key string
	http      http.Client
}

// Resource is a resource or a container, with the fields that tests compare.
type Resource struct {
	ID, URL, DataURL, Name, Title, Description, Format string
	SetID, DataspaceID, State, SHA256, Modified        string
	Bytes                                              int64
	Version                                            int
	Purged                                             bool
}

// Page is one page of a listing.
type Page struct {
	NextPage, CurrentPage string
	Data                  []Resource
	End                   bool
}

// File is one file to upload. Empty fields are not sent; a replacement has no SetID.
type File struct {
	SetID, Name, Description, Format string
	Filename                         string
	Type                             string    // media type; "": application/octet-stream
	Body                             io.Reader // exactly Size bytes
	Size                             int64
}

// Answer is a complete answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// StatusError is an answer with another status than success.
type StatusError struct {
	Status int
	Code   string // code of the problem document, or ""
	Detail string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d, code %q: %s", e.Status, e.Code, e.Detail)
}

// Problem describes an unexpected answer.
func (a Answer) Problem() *StatusError {
	var problem StatusError
	if json.Unmarshal(a.Body, &problem) != nil {
		problem.Detail = string(a.Body[:min(len(a.Body), 2000)])
	}
	problem.Status = a.Status
	return &problem
}

// Decode decodes the JSON of a success into out, unless out is nil. Any other answer is a
// *StatusError.
func (a Answer) Decode(out any) error {
	switch {
	case a.Status/100 != 2:
		return a.Problem()
	case out == nil:
		return nil
	}
	return json.Unmarshal(a.Body, out)
}

// NewClient returns a client of the service at base, which ends with /v1.
func NewClient(base, key string) *Client {
	return &Client{base: base, key: key, http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Base returns the base URL.
func (c *Client) Base() string { return c.base }

// Address returns the host and port of the service.
func (c *Client) Address() string {
	address, _, _ := strings.Cut(strings.TrimPrefix(c.base, "http://"), "/")
	return address
}

// Key returns the client's key.
func (c *Client) Key() string { return c.key }

// CloseIdle closes idle connections.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Exchange sends a request and returns the answer. The url is a URL from an answer of the service,
// or a path below the base URL that begins with a slash. A URL may contain an earlier address of
// the service. An error is an error of the connection, before or during the answer.
func (c *Client) Exchange(ctx context.Context, method, url string, header http.Header, body io.Reader) (a Answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	response, err := c.do(ctx, method, url, header, body)
	if err != nil {
		return a, err
	}
	defer func() { _ = response.Body.Close() }() // the body was read
	a = Answer{Status: response.StatusCode, Header: response.Header}
	a.Body, err = io.ReadAll(response.Body)
	return a, err
}

// SendJSON is like Exchange, and sends in as JSON unless it is nil.
func (c *Client) SendJSON(ctx context.Context, method, url string, in any) (Answer, error) {
	if in == nil {
		return c.Exchange(ctx, method, url, http.Header{}, nil)
	}
	text, err := json.Marshal(in)
	if err != nil {
		return Answer{}, err
	}
	return c.Exchange(ctx, method, url, http.Header{"Content-Type": {"application/json"}}, bytes.NewReader(text))
}

// Call is like SendJSON, for requests that must succeed. It decodes the answer into out, unless out
// is nil. Any other answer is a *StatusError.
func (c *Client) Call(ctx context.Context, method, url string, in, out any) error {
	a, err := c.SendJSON(ctx, method, url, in)
	if err == nil {
		err = a.Decode(out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, url, err)
	}
	return nil
}

// Get calls Call with GET.
func (c *Client) Get(ctx context.Context, url string, out any) error {
	return c.Call(ctx, http.MethodGet, url, nil, out)
}

// Make creates a dataspace or a set: it posts the fields and returns the new object's id.
func (c *Client) Make(ctx context.Context, listing string, fields map[string]string) (id string, err error) {
	var made struct{ ID string }
	err = c.Call(ctx, http.MethodPost, listing, fields, &made)
	return made.ID, err
}

// MakeSet creates a set with this name in a new dataspace, and returns their ids.
func (c *Client) MakeSet(ctx context.Context, name string) (dataspace, set string, err error) {
	dataspace, err = c.Make(ctx, "/dataspaces", map[string]string{"name": name + "-space"})
	if err == nil {
		set, err = c.Make(ctx, "/sets", map[string]string{"name": name, "dataspaceId": dataspace})
	}
	return dataspace, set, err
}

// Upload sends a file, with POST to create a resource or PUT to replace one, and returns the
// resource. Any answer but success is an error.
func (c *Client) Upload(ctx context.Context, method, url string, f File) (r Resource, err error) {
	a, err := c.SendFile(ctx, method, url, f)
	if err == nil {
		err = a.Decode(&r)
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w", method, url, err)
	}
	return r, err
}

// SendFile sends a file as a form, and streams its body.
func (c *Client) SendFile(ctx context.Context, method, url string, f File) (a Answer, err error) {
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for _, field := range [][2]string{{"setId", f.SetID}, {"name", f.Name}, {"description", f.Description}, {"format", f.Format}} {
		if field[1] != "" {
			err = errors.Join(err, parts.WriteField(field[0], field[1]))
		}
	}
	part := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition("file", f.Filename)}}
	part.Set("Content-Type", cmp.Or(f.Type, "application/octet-stream"))
	_, creating := parts.CreatePart(part)
	head := form.Len()
	if err := errors.Join(err, creating, parts.Close()); err != nil {
		return a, err
	}
	around := form.Bytes()
	body := sized{io.MultiReader(bytes.NewReader(around[:head]), f.Body, bytes.NewReader(around[head:])), int64(len(around)) + f.Size}
	return c.Exchange(ctx, method, url, http.Header{"Content-Type": {parts.FormDataContentType()}}, body)
}

// sized is a body of known length.
type sized struct {
	io.Reader
	length int64
}

// Download writes the body of the answer to w.
func (c *Client) Download(ctx context.Context, url string, w io.Writer) (err error) {
	response, err := c.do(ctx, http.MethodGet, url, http.Header{}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode/100 != 2 {
		text, err := io.ReadAll(response.Body)
		return errors.Join(fmt.Errorf("GET %s: %w", url, Answer{Status: response.StatusCode, Body: text}.Problem()), err)
	}
	if _, err := io.Copy(w, response.Body); err != nil {
		return fmt.Errorf("GET %s: %w", url, err)
	}
	return nil
}

// Walk reads a listing page by page, from url to its end, and calls fn for each page with results.
// It returns the URL of the end page, which a harvester stores.
func (c *Client) Walk(ctx context.Context, url string, fn func(Page) error) (end string, err error) {
	for {
		var page Page
		if err := c.Get(ctx, url, &page); err != nil {
			return "", err
		}
		if page.End {
			return url, nil
		}
		if page.NextPage == "" || len(page.Data) == 0 {
			return "", fmt.Errorf("%s returned a page without results or without a next page, but it is not the end page", url)
		}
		if err := fn(page); err != nil {
			return "", err
		}
		url = page.NextPage
	}
}

func (c *Client) do(ctx context.Context, method, url string, header http.Header, body io.Reader) (*http.Response, error) {
	if _, path, ok := strings.Cut(url, "/v1/"); ok {
		url = "/" + path
	}
	if strings.HasPrefix(url, "/") {
		url = c.base + url
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	if of, ok := body.(sized); ok {
		request.ContentLength = of.length
	}
	request.Header = header
	if c.key != "" { // an empty key would be a wrong key
		request.Header.Set("Authorization", c.key)
	}
	return c.http.Do(request)
}
