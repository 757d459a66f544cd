package client

import (
	"context"
	"io"
	"net/http"

	"labshelf/handlers/wire"
)

// Usage counts the contents of the dataspaces that the caller may read.
func (c *Client) Usage(ctx context.Context) (Usage, error) { return c.usage(ctx, at("usage")) }

// DataspaceUsage counts the contents of a dataspace.
func (c *Client) DataspaceUsage(ctx context.Context, id string) (Usage, error) {
	return c.usage(ctx, at("dataspaces", id, "usage"))
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
	wire.Session
	Cookie *http.Cookie `json:"-"`
}

// SignIn trades a key for a session, as browsers do. Programs need none: they have their key.
func (c *Client) SignIn(ctx context.Context, key string) (s Session, err error) {
	in := wire.SignIn{Key: key}
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
