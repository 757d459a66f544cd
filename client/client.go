package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs/digest"
	"labshelf/handlers/wire"
)

// Client calls one service as one user. Its fields are the calls, by noun. It keeps its connections
// open.
type Client struct {
	*caller

	Dataspaces  Dataspaces
	Sets        Sets
	Folders     Folders
	Resources   Resources
	Versions    Versions
	Uploads     Uploads
	Edits       Edits
	Schemas     Schemas
	Links       Links
	Users       Users
	Keys        Keys
	Privileges  Privileges
	Sessions    Sessions
	Webhooks    Webhooks
	Locks       Locks
	Audit       Audit
	Maintenance Maintenance
}

// caller makes the calls of a client.
type caller struct {
	base, key string
	http      *http.Client
	elsewhere *http.Client // for redirects to public addresses
}

// New returns a client of the service whose base URL is base, such as https://data.example.org/v1.
// It calls with key; "" is for calls without a key.
func New(base, key string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 8
	transport.DisableCompression = true                                                   // a compressed response has no length to compare with
	once := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // so that the key is not sent to other addresses
	return newClient(&caller{
		base: strings.TrimSuffix(base, "/"), key: key,
		http:      &http.Client{Transport: transport, CheckRedirect: once},
		elsewhere: &http.Client{Transport: toPublic(transport), CheckRedirect: once},
	})
}

func newClient(c *caller) *Client {
	return &Client{
		caller:     c,
		Dataspaces: Dataspaces{c}, Sets: Sets{c}, Folders: Folders{c}, Resources: Resources{c}, Versions: Versions{c}, Uploads: Uploads{c},
		Edits: Edits{c}, Schemas: Schemas{c}, Links: Links{c}, Users: Users{c}, Keys: Keys{c}, Privileges: Privileges{c}, Sessions: Sessions{c},
		Webhooks: Webhooks{c}, Locks: Locks{c}, Audit: Audit{c}, Maintenance: Maintenance{c},
	}
}

// Base returns the base URL of the service.
func (c *Client) Base() string { return c.base }

// Close closes the idle connections.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.elsewhere.CloseIdleConnections()
}

// Problem is an error response, with its problem document. If another server than labshelf answers,
// only Status is set.
type Problem struct {
	Status int       // of the response
	Code   errs.Code // for programs, or ""
	Detail string    // for people, or ""
	Field  string    // the invalid part of the request, or ""
}

// Error implements error.
func (p *Problem) Error() string {
	if p.Code == "" {
		return fmt.Sprintf("the server answered %d %s, and the response does not come from %s", p.Status, http.StatusText(p.Status), "labshelf")
	}
	return fmt.Sprintf("the service answered %d %s: %s", p.Status, p.Code, p.Detail)
}

// OfGateway reports whether a proxy or load balancer has answered because it does not reach the
// service.
func (p *Problem) OfGateway() bool {
	return p.Code == "" && slices.Contains(gatewayStatuses, p.Status)
}

// gatewayStatuses are the statuses of a proxy whose service does not answer.
var gatewayStatuses = []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// ErrIncomplete is returned by calls and readers if a response is truncated: the connection broke
// or the service failed.
var ErrIncomplete = errors.New("the response is incomplete")

// maxProblem bounds an error response, in bytes.
const maxProblem = 64 << 10

// Status returns the status of the service. It returns no error for a failing service.
func (c *Client) Status(ctx context.Context) (s Status, err error) {
	response, err := c.do(ctx, http.MethodGet, "/status", nil)
	if err != nil {
		return s, err
	}
	defer closing(response.Body, &err)
	failing := response.StatusCode == http.StatusServiceUnavailable
	if response.StatusCode != http.StatusOK && !failing {
		return s, problemOf(response)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxProblem)).Decode(&s); err != nil || s.Status == "" {
		return s, &Problem{Status: response.StatusCode}
	}
	return s, nil
}

// Download is a body that is being received. Reading fails with ErrIncomplete if it ends before
// Bytes. The caller closes it.
type Download struct {
	io.ReadCloser
	Bytes int64 // the length
}

// Snapshot requests a consistent copy of the metadata, and returns the stamp of the last change in
// it, in µs. It is for sysadmins.
func (s Maintenance) Snapshot(ctx context.Context) (*Download, int64, error) {
	response, err := s.c.get(ctx, "/admin/snapshot")
	if err != nil {
		return nil, 0, err
	}
	stamp, err := strconv.ParseInt(response.Header.Get("Labshelf-Stamp"), 10, 64)
	if err != nil || response.ContentLength < 0 {
		return nil, 0, errors.Join(&Problem{Status: response.StatusCode}, response.Body.Close())
	}
	return download(response), stamp, nil
}

// Blob requests the bytes of a blob from the start. It is for sysadmins. The caller must verify the
// bytes. The Problem of a missing blob has the code blob_not_found.
func (s Maintenance) Blob(ctx context.Context, of digest.Digest) (*Download, error) {
	response, err := s.c.get(ctx, "/admin/blobs/"+of.String())
	if err != nil {
		return nil, err
	}
	if response.ContentLength < 0 {
		return nil, errors.Join(&Problem{Status: response.StatusCode}, response.Body.Close())
	}
	return download(response), nil
}

func download(response *http.Response) *Download {
	return &Download{ReadCloser: bodyReader{response.Body}, Bytes: response.ContentLength}
}

// bodyReader turns every error of a truncated body into ErrIncomplete.
type bodyReader struct{ io.ReadCloser }

func (r bodyReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return n, err
}

// get sends a request without a body. After success the caller closes the response's body.
func (c *caller) get(ctx context.Context, path string) (*http.Response, error) {
	return c.succeed(c.do(ctx, http.MethodGet, path, nil))
}

// post sends in as JSON. After success the caller closes the response's body.
func (c *caller) post(ctx context.Context, path string, in any) (*http.Response, error) {
	return c.succeed(c.do(ctx, http.MethodPost, path, in))
}

// succeed returns an error for an error response.
func (c *caller) succeed(response *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(problemOf(response), response.Body.Close())
	}
	return response, nil
}

// do makes one request, without retries.
func (c *caller) do(ctx context.Context, method, path string, in any) (*http.Response, error) {
	request, err := c.build(ctx, request{method: method, path: path, in: in})
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // the address is known
	}
	if err != nil {
		return nil, fmt.Errorf("%s does not answer: %w", c.base, err)
	}
	return response, nil
}

func problemOf(response *http.Response) *Problem {
	var p wire.Problem
	text, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err != nil || json.Unmarshal(text, &p) != nil {
		p = wire.Problem{}
	}
	return &Problem{Status: response.StatusCode, Code: p.Code, Detail: p.Detail, Field: p.Field}
}

func closing(body io.Closer, err *error) { *err = errors.Join(*err, body.Close()) }
