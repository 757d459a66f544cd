package handlers_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
)

// part is one part of a multipart upload.
type part struct {
	disposition string // after form-data;
	headers     []string
	body        string
}

// text returns a form field.
func text(name, value string) part { return part{disposition: `name="` + name + `"`, body: value} }

// file returns the file part.
func file(filename, content string, headers ...string) part {
	return part{disposition: `name="file"; filename="` + filename + `"`, headers: headers, body: content}
}

const boundary = "limes"

// form returns a multipart body with these parts, in order.
func form(parts ...part) raw {
	var body strings.Builder
	for _, p := range parts {
		body.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; " + p.disposition + "\r\n")
		for _, header := range p.headers {
			body.WriteString(header + "\r\n")
		}
		body.WriteString("\r\n" + p.body + "\r\n")
	}
	body.WriteString("--" + boundary + "--\r\n")
	return raw{"multipart/form-data; boundary=" + boundary, []byte(body.String())}
}

func sha256Hex(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// space is a dataspace of a single test, with its creator as admin.
type space struct {
	*client
	dataspace string
}

// newSpace creates a dataspace.
func (c *client) newSpace(fields object) *space {
	c.t.Helper()
	sent := object{"name": c.name("space")}
	for name, value := range fields {
		sent[name] = value
	}
	made := c.send("POST", "/dataspaces", sent).want(http.StatusCreated).object()
	return &space{client: c, dataspace: made.text("id")}
}

// newUser creates a user with a key.
func (c *client) newUser(fields object) *client {
	c.t.Helper()
	sent := object{"username": c.name("user")}
	for name, value := range fields {
		sent[name] = value
	}
	user := *c
	user.id = c.send("POST", "/users", sent).want(http.StatusCreated).object().text("id")
	user.key = c.send("POST", "/users/"+user.id+"/keys", nil).want(http.StatusCreated).object().text("key")
	return &user
}

// newMember creates a user with a role in the dataspace.
func (s *space) newMember(role string) *client {
	s.t.Helper()
	user := s.newUser(nil)
	s.send("POST", "/privileges", object{"userId": user.id, "dataspaceId": s.dataspace, "role": role}).want(http.StatusCreated)
	return user
}

// newSet creates a set and returns its id.
func (s *space) newSet() string {
	s.t.Helper()
	made := s.send("POST", "/sets", object{"name": s.name("set"), "dataspaceId": s.dataspace})
	return made.want(http.StatusCreated).object().text("id")
}

// upload uploads a file to a set and returns its record.
func (c *client) upload(set, filename, content string, more ...part) object {
	c.t.Helper()
	parts := append([]part{text("setId", set)}, append(more, file(filename, content))...)
	return c.send("POST", "/resources", form(parts...)).want(http.StatusCreated).object()
}

// newResource creates a resource in a new set and returns its id.
func (s *space) newResource() string {
	s.t.Helper()
	return s.upload(s.newSet(), "a.txt", "content").text("id")
}

// ids returns one member of each object.
func ids(items []object, member string) []string {
	list := []string{}
	for _, item := range items {
		list = append(list, item.text(member))
	}
	return list
}

func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// interrupted is a body that runs a function in the middle.
type interrupted struct {
	rest []byte
	at   int
	act  func()
}

func (i *interrupted) Read(p []byte) (int, error) {
	if len(i.rest) == 0 {
		return 0, io.EOF
	}
	if i.act != nil && i.at == 0 {
		i.act()
		i.act = nil
	}
	n := len(i.rest)
	if i.at > 0 {
		n = min(n, i.at)
	}
	n = copy(p, i.rest[:n])
	i.rest, i.at = i.rest[n:], max(0, i.at-n)
	return n, nil
}
