package client

import (
	"context"
	"io"
	"net/http"

	"labshelf/handlers/wire"
)

// Usage returns the usage of the dataspaces that the caller may read.
func (c *Client) Usage(ctx context.Context) (Usage, error) { return c.usage(ctx, at("usage")) }

// Usage returns the usage of a dataspace.
func (s Dataspaces) Usage(ctx context.Context, id string) (Usage, error) {
	return s.c.usage(ctx, at("dataspaces", id, "usage"))
}

// Usage returns the usage of a user. Callers other than sysadmins may only request their own.
func (s Users) Usage(ctx context.Context, id string) (u UserUsage, err error) {
	err = s.c.run(ctx, request{method: http.MethodGet, path: at("users", id, "usage")}, func(response *http.Response) error { return read(response, &u) })
	return u, err
}

func (c *caller) usage(ctx context.Context, path string) (u Usage, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error {
		err := read(response, &u)
		if err == nil && u.Days == nil {
			err = &Problem{Status: response.StatusCode}
		}
		return err
	})
	return u, err
}

// Session authenticates a browser instead of a key.
type Session struct {
	wire.Session
	Cookie *http.Cookie `json:"-"`
}

// Sessions are the calls about sessions of browsers.
type Sessions struct{ c *caller }

// SignIn trades a key for a session, as browsers do. Programs use their key instead.
func (s Sessions) SignIn(ctx context.Context, key string) (made Session, err error) {
	in := wire.SignIn{Key: key}
	err = s.c.run(ctx, request{method: http.MethodPost, path: at("session"), in: in, once: true}, func(response *http.Response) error {
		if err := read(response, &made); err != nil {
			return err
		}
		cookies := response.Cookies()
		if made.Username == "" || len(cookies) != 1 {
			return &Problem{Status: response.StatusCode}
		}
		made.Cookie = cookies[0]
		return nil
	})
	return made, err
}

// SignOut ends a session permanently. A session that has ended is not an error.
func (s Sessions) SignOut(ctx context.Context, of Session) error {
	r := request{method: http.MethodDelete, path: at("session")}
	if of.Cookie != nil {
		r = r.with("Cookie", of.Cookie.Name+"="+of.Cookie.Value)
	}
	return s.c.nothing(ctx, r)
}

// OpenAPIJSON fetches the description of the API as JSON.
func (c *Client) OpenAPIJSON(ctx context.Context) ([]byte, error) { return c.document(ctx, "json") }

// OpenAPIYAML fetches the description of the API as YAML.
func (c *Client) OpenAPIYAML(ctx context.Context) ([]byte, error) { return c.document(ctx, "yaml") }

func (c *caller) document(ctx context.Context, kind string) (text []byte, err error) {
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
