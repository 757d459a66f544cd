package client

import (
	"context"
	"io"
	"net/http"
)

// Counters count files and bytes. Each file counts in full, also where two have the same content; a
// purged one counts as deleted, with 0 bytes.
type Counters struct {
	ActiveFiles  int64 `json:"activeFiles"`
	ActiveBytes  int64 `json:"activeBytes"`
	DeletedFiles int64 `json:"deletedFiles"`
	DeletedBytes int64 `json:"deletedBytes"`
	OldVersions  int64 `json:"oldVersions"` // before the current ones, less those whose files were removed
	OldBytes     int64 `json:"oldBytes"`
}

// Bytes are those that count towards a quota.
func (c Counters) Bytes() int64 { return c.ActiveBytes + c.DeletedBytes + c.OldBytes }

// Usage is the contents of one dataspace, or of all that the caller may read.
type Usage struct {
	Counters
	Days       []UsageDay       `json:"days"`                // oldest first
	Dataspaces []DataspaceUsage `json:"dataspaces,omitzero"` // each by itself; nil for one
	Quota      int64            `json:"quota,omitempty"`     // as in DataspaceUsage, of one; 0 for several
}

// UsageDay is the contents at the end of a day with a change.
type UsageDay struct {
	Day string `json:"day"` // in UTC, as 2024-11-19
	Counters
}

// DataspaceUsage is the contents of one of several dataspaces.
type DataspaceUsage struct {
	DataspaceID string `json:"dataspaceId"`
	Counters
	Quota int64 `json:"quota,omitempty"` // what Counters.Bytes may be, at most; 0: no limit, or the caller has no role
}

// Usage counts the contents of the dataspaces that the caller may read.
func (c *Client) Usage(ctx context.Context) (Usage, error) { return c.usage(ctx, at("usage")) }

// DataspaceUsage counts the contents of a dataspace.
func (c *Client) DataspaceUsage(ctx context.Context, id string) (Usage, error) {
	return c.usage(ctx, at("dataspaces", id, "usage"))
}

// UserUsage is what all versions take that a user has stored.
type UserUsage struct {
	Used  int64 `json:"used"`            // bytes
	Quota int64 `json:"quota,omitempty"` // bytes, at most; 0: no limit
}

// UserUsage counts what a user has stored. A caller who is no sysadmin may ask for itself alone.
func (c *Client) UserUsage(ctx context.Context, id string) (u UserUsage, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: at("users", id, "usage")}, func(response *http.Response) error { return read(response, &u) })
	return u, err
}

func (c *Client) usage(ctx context.Context, path string) (u Usage, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error {
		err := read(response, &u)
		if err == nil && u.Days == nil {
			err = &Problem{Status: response.StatusCode}
		}
		return err
	})
	return u, err
}

// Session authenticates a browser in place of a key.
type Session struct {
	Username string       `json:"username"`
	Sysadmin bool         `json:"sysadmin"`
	Cookie   *http.Cookie `json:"-"`
}

// SignIn trades a key for a session, as browsers do. Programs need none: they have their key.
func (c *Client) SignIn(ctx context.Context, key string) (s Session, err error) {
	in := struct {
		Key string `json:"key"`
	}{key}
	err = c.run(ctx, request{method: http.MethodPost, path: at("session"), in: in, once: true}, func(response *http.Response) error {
		if err := read(response, &s); err != nil {
			return err
		}
		cookies := response.Cookies()
		if s.Username == "" || len(cookies) != 1 {
			return &Problem{Status: response.StatusCode}
		}
		s.Cookie = cookies[0]
		return nil
	})
	return s, err
}

// SignOut ends a session for good. That it has ended is no error.
func (c *Client) SignOut(ctx context.Context, s Session) error {
	r := request{method: http.MethodDelete, path: at("session")}
	if s.Cookie != nil {
		r = r.with("Cookie", s.Cookie.Name+"="+s.Cookie.Value)
	}
	return c.nothing(ctx, r)
}

// OpenAPIJSON fetches the description of the interface as JSON.
func (c *Client) OpenAPIJSON(ctx context.Context) ([]byte, error) { return c.document(ctx, "json") }

// OpenAPIYAML fetches the description of the interface as YAML.
func (c *Client) OpenAPIYAML(ctx context.Context) ([]byte, error) { return c.document(ctx, "yaml") }

func (c *Client) document(ctx context.Context, kind string) (text []byte, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: at("openapi." + kind)}, func(response *http.Response) (err error) {
		if err := typed(response, "application/"+kind); err != nil {
			return err
		}
		defer closing(response.Body, &err)
		text, err = io.ReadAll(bodyReader{response.Body})
		return err
	})
	return text, err
}
