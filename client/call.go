package client

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// ErrNotModified is returned by a call with IfNoneMatch if the record has not changed.
var ErrNotModified = errors.New("not modified")

// ErrNotTLS is wrapped by the error of a call if the base URL says https and the service speaks
// HTTP.
var ErrNotTLS = http.ErrSchemeMismatch

// Errors of calls that would otherwise become other calls: a call of the parent path, or a call
// without its condition.
var (
	errNoID   = errors.New("an id is empty, or a relative path")
	errNoETag = errors.New("the ETag of a condition is empty: records in listings have none, so read the record first")
)

// maxAnswer bounds a JSON response, in bytes. The longest one, a page of 1000 resources with
// strings of maximum length, has about half of it.
const maxAnswer = 128 << 20

// Condition is a condition of a call.
type Condition struct{ header, etag string }

// IfMatch makes a call conditional: the record must have this ETag. Otherwise the Problem has the
// status 412.
func IfMatch(etag string) Condition { return Condition{"If-Match", etag} }

// IfNoneMatch makes a call conditional: the record must have another ETag. Otherwise a call that
// reads returns ErrNotModified, and a call that changes the record returns a Problem with the
// status 412.
func IfNoneMatch(etag string) Condition { return Condition{"If-None-Match", etag} }

// request describes one call of the API, so that it can be repeated.
type request struct {
	method, path string      // below the base URL, escaped, with its query; "": an id is invalid
	header       http.Header // without the key; may be nil
	in           any         // sent as a JSON body; nil: no body
	csv          []byte      // sent as the body; nil: no body
	form         *form       // sent as a multipart body; nil: no body
	chunk        *fileChunk  // sent as the body; nil: no body
	once         bool        // not idempotent, sent once
	wrong        error       // reason why the request is invalid
}

// at joins and escapes the elements of a path. It returns "" if an element is empty, since that
// would be another path.
func at(elements ...string) string {
	var path strings.Builder
	for _, e := range elements {
		if e == "" || e == "." || e == ".." {
			return ""
		}
		path.WriteString("/" + url.PathEscape(e))
	}
	return path.String()
}

// under adds conditions.
func (r request) under(when []Condition) request {
	for _, w := range when {
		if w.etag == "" {
			r.wrong = errNoETag
		}
		r = r.with(w.header, w.etag)
	}
	return r
}

// with adds a header, unless its value is "".
func (r request) with(name, value string) request {
	if value == "" {
		return r
	}
	r.header = r.header.Clone()
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Add(name, value)
	return r
}

// run makes a call, with retries if they are safe and useful. It passes a successful response to
// take, which closes its body.
func (c *caller) run(ctx context.Context, r request, take func(*http.Response) error) error {
	retries := c.retries()
	var doubted error // of the first attempt without a response that may have been executed
	for try := 1; ; try++ {
		failed := c.try(ctx, r, take)
		if failed == nil {
			return nil
		}
		if doubted != nil && failed.verdict != doubt { // this attempt was refused, but an earlier one may have succeeded
			failed.error = fmt.Errorf("%w; an earlier attempt may have succeeded, but got no response: %w", failed.error, doubted)
		}
		if failed.verdict == doubt && doubted == nil && r.method != http.MethodGet && r.method != http.MethodHead {
			doubted = failed.error
		}
		pause := retries.pause(try)
		if failed.response != nil {
			pause = max(pause, retryAfter(failed.response.Header))
		}
		if failed.verdict == final || failed.verdict == doubt && r.once || pause > retries.Longest {
			return failed.error
		}
		if try == retries.Tries {
			return tried(failed.error, try)
		}
		if err := cmp.Or(retries.Wait(ctx, pause), ctx.Err()); err != nil {
			return fmt.Errorf("%w, while waiting after: %w", err, failed.error)
		}
		if !r.form.rewind() {
			return failed.error
		}
	}
}

func tried(err error, times int) error {
	if times == 1 {
		return err
	}
	return fmt.Errorf("%w (tried %d times)", err, times)
}

// try makes one attempt.
func (c *caller) try(ctx context.Context, r request, take func(*http.Response) error) *failure {
	request, err := c.build(ctx, r)
	if err != nil {
		return &failure{verdict: final, error: err}
	}
	sent := cmp.Or(r.form.begin(ctx), r.chunk.begin(ctx))
	if sent != nil {
		request.Body, request.ContentLength = sent, sent.length
		defer sent.end()
	}
	response, err := c.http.Do(request)
	if err != nil {
		return c.unanswered(ctx, err, sent)
	}
	if response.StatusCode == http.StatusTemporaryRedirect && r.method == http.MethodGet {
		if response, err = c.follow(request, response); err != nil {
			return c.unanswered(ctx, err, sent)
		}
	}
	if response.StatusCode >= 300 {
		return refused(response)
	}
	err = take(response)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrIncomplete) && ctx.Err() == nil:
		return &failure{verdict: doubt, error: err}
	}
	return &failure{verdict: final, error: err}
}

// build makes a request without the body of a form.
func (c *caller) build(ctx context.Context, r request) (*http.Request, error) {
	if r.path == "" || r.wrong != nil {
		return nil, cmp.Or(r.wrong, errNoID)
	}
	var body io.Reader
	if r.in != nil {
		text, err := json.Marshal(r.in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	if r.csv != nil {
		body = bytes.NewReader(r.csv)
	}
	request, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, body)
	if err != nil {
		return nil, err
	}
	if request.URL.Host == "" || request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the base URL of a service: it looks like https://data.example.org/v1", c.base)
	}
	if r.header != nil {
		request.Header = r.header.Clone()
	}
	switch {
	case r.in != nil:
		request.Header.Set("Content-Type", "application/json")
	case r.csv != nil:
		request.Header.Set("Content-Type", "text/csv")
	case r.form != nil:
		request.Header.Set("Content-Type", r.form.contentType())
	}
	if c.key != "" {
		request.Header.Set("Authorization", c.key)
	}
	return request, nil
}

// read decodes a JSON response to its end.
func read(response *http.Response, into any) (err error) {
	defer closing(response.Body, &err)
	body, err := uncompressed(response)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return err
	}
	if len(text) == maxAnswer || json.Unmarshal(text, into) != nil {
		return &Problem{Status: response.StatusCode}
	}
	return nil
}

// uncompressed returns the body of a response that may be compressed. A truncated one is
// ErrIncomplete: gzip ends with a checksum and the length.
func uncompressed(response *http.Response) (io.Reader, error) {
	body := bodyReader{response.Body}
	if response.Header.Get("Content-Encoding") != "gzip" {
		return body, nil
	}
	unpacked, err := gzip.NewReader(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncomplete, err)
	}
	return bodyReader{unpacked}, nil
}

// record is an object with an id.
type record interface {
	Dataspace | Set | Resource | Version | User | CreatedKey | Key | Privilege | Link | AddressedLink |
		Schema | SchemaVersion | Edit | EditOutcome | Webhook | SecretWebhook | Delivery
}

// identify stores the ETag of a response in a record, and returns the record's identity, or "" if
// the type is unexpected.
func identify(r any, etag string) (id string) {
	switch r := r.(type) {
	case *Dataspace:
		r.ETag, id = etag, r.ID
	case *Set:
		r.ETag, id = etag, r.ID
	case *Resource:
		r.ETag, id = etag, r.ID
	case *User:
		r.ETag, id = etag, r.ID
	case *Privilege:
		r.ETag, id = etag, r.ID
	case *Link:
		r.ETag, id = etag, r.ID
	case *AddressedLink:
		r.ETag, id = etag, r.ID
	case *Schema:
		r.ETag, id = etag, r.ID
	case *SchemaVersion:
		id = strconv.Itoa(r.Version)
	case *Version:
		id = r.ResourceID
	case *Key:
		id = r.ID
	case *CreatedKey:
		id = r.ID
	case *Edit:
		id = r.ID
	case *EditOutcome:
		if r.Changes != nil {
			id = "outcome"
		}
	case *Webhook:
		id = r.ID
	case *SecretWebhook:
		id = r.ID
	case *Delivery:
		id = r.MessageID
	}
	return id
}

// one makes a call that returns one record.
func one[T record](ctx context.Context, c *caller, r request) (T, error) {
	var got, none T
	err := c.run(ctx, r, func(response *http.Response) error {
		if err := read(response, &got); err != nil {
			return err
		}
		if identify(&got, response.Header.Get("Etag")) == "" {
			return &Problem{Status: response.StatusCode}
		}
		return nil
	})
	if err != nil {
		return none, err
	}
	return got, nil
}

// typed rejects a response with another content type than labshelf sends.
func typed(response *http.Response, want string) error {
	if got := response.Header.Get("Content-Type"); got != want && !strings.HasPrefix(got, want+";") {
		return errors.Join(&Problem{Status: response.StatusCode}, response.Body.Close())
	}
	return nil
}

// nothing makes a call whose response has no body.
func (c *caller) nothing(ctx context.Context, r request) error {
	return c.run(ctx, r, func(response *http.Response) error {
		if response.StatusCode != http.StatusNoContent {
			return errors.Join(&Problem{Status: response.StatusCode}, response.Body.Close())
		}
		return response.Body.Close()
	})
}
