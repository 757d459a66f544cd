package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
)

// Client calls the HTTP interface. It keeps its connections, and is safe for concurrent use.
type Client struct {
	base, key string
	http      http.Client
}

// Resource is what tests look at of a resource.
type Resource struct {
	ID      string
	DataURL string
	Name    string
	Format  string
	Bytes   int64
	SHA256  string
	SetID   string
	State   string
}

// Page is one page of a listing of resources.
type Page struct {
	NextPage, CurrentPage string
	Data                  []Resource
	End                   bool
}

// File is one file to upload.
type File struct {
	SetID    string // "" is not sent, as in a replacement
	Name     string // "" is not sent
	Filename string
	Body     io.Reader // exactly Size bytes
	Size     int64
}

// StatusError is an answer that is no success.
type StatusError struct {
	Status int
	Code   string // of the problem document
	Detail string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d, code %q: %s", e.Status, e.Code, e.Detail)
}

// NewClient returns a client of the service at base, which ends with /v1.
func NewClient(base, key string) *Client {
	return &Client{base: base, key: key, http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Base returns the base URL.
func (c *Client) Base() string { return c.base }

// Key returns the key that it calls with.
func (c *Client) Key() string { return c.key }

// CloseIdle closes the connections that no request is using.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Call sends a request with in as JSON, unless it is nil, and reads the answer into out, unless that is nil. The url is one
// that the service gave, or a path below the base URL that begins with a slash. An answer that is no success is a *StatusError.
func (c *Client) Call(ctx context.Context, method, url string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	request, err := c.request(ctx, method, url, body)
	if err != nil {
		return err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return c.send(request, func(answer io.Reader) error {
		if out == nil {
			return nil
		}
		return json.NewDecoder(answer).Decode(out)
	})
}

// Make creates a dataspace or a set: it posts the fields and returns the new object's id.
func (c *Client) Make(ctx context.Context, listing string, fields map[string]string) (id string, err error) {
	var made struct{ ID string }
	err = c.Call(ctx, http.MethodPost, listing, fields, &made)
	return made.ID, err
}

// Upload sends a file, with POST to create a resource or PUT to replace one. It streams the body.
func (c *Client) Upload(ctx context.Context, method, url string, f File) (r Resource, err error) {
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	for _, field := range [][2]string{{"setId", f.SetID}, {"name", f.Name}} {
		if field[1] != "" {
			err = errors.Join(err, parts.WriteField(field[0], field[1]))
		}
	}
	_, creating := parts.CreateFormFile("file", f.Filename)
	head := form.Len()
	if err := errors.Join(err, creating, parts.Close()); err != nil {
		return r, err
	}
	around := form.Bytes()
	body := io.MultiReader(bytes.NewReader(around[:head]), f.Body, bytes.NewReader(around[head:]))
	request, err := c.request(ctx, method, url, body)
	if err != nil {
		return r, err
	}
	request.ContentLength = int64(len(around)) + f.Size
	request.Header.Set("Content-Type", parts.FormDataContentType())
	err = c.send(request, func(answer io.Reader) error { return json.NewDecoder(answer).Decode(&r) })
	return r, err
}

// Download writes what the url answers to w.
func (c *Client) Download(ctx context.Context, url string, w io.Writer) error {
	request, err := c.request(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	return c.send(request, func(answer io.Reader) error {
		_, err := io.Copy(w, answer)
		return err
	})
}

// Walk reads a listing of resources page by page, from url to its end, and calls fn for each page that has results. It returns
// the URL that answered with the end: the one that a harvester keeps.
func (c *Client) Walk(ctx context.Context, url string, fn func(Page) error) (kept string, err error) {
	for {
		var page Page
		if err := c.Call(ctx, http.MethodGet, url, nil, &page); err != nil {
			return "", err
		}
		if page.End {
			return url, nil
		}
		if page.NextPage == "" || len(page.Data) == 0 {
			return "", fmt.Errorf("%s answered with a page without results or without a next one, but not with the end", url)
		}
		if err := fn(page); err != nil {
			return "", err
		}
		url = page.NextPage
	}
}

func (c *Client) request(ctx context.Context, method, url string, body io.Reader) (*http.Request, error) {
	if strings.HasPrefix(url, "/") {
		url = c.base + url
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err == nil {
		request.Header.Set("Authorization", c.key)
	}
	return request, err
}

// send sends a request and gives the body of a success to read; what that leaves is read too, so that the connection is kept.
func (c *Client) send(request *http.Request, read func(io.Reader) error) (err error) {
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode/100 != 2 {
		var problem StatusError
		text, err := io.ReadAll(response.Body)
		if json.Unmarshal(text, &problem) != nil {
			problem.Detail = string(text)
		}
		problem.Status = response.StatusCode
		return errors.Join(fmt.Errorf("%s %s: %w", request.Method, request.URL, &problem), err)
	}
	if err := read(response.Body); err != nil {
		return fmt.Errorf("%s %s: %w", request.Method, request.URL, err)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
