package handlers_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"labshelf/handlers"
	"labshelf/repository"
)

// maker is a user with all kinds of credentials, created with one key.
type maker struct {
	*space
	ahead                          *atomic.Int64 // how far the service's clock is ahead
	set, shared                    string        // the set, and a file in it
	user                           *client       // with the key that a sysadmin created
	parent, key, child, grandchild *client       // each with a key that was created with the previous one
	cookie                         string        // of a session of the key
	keys                           map[*client]string
	share, request, invitation     visitor
	chunks, resumable              string // addresses of uploads, through the request link and with the key
	drive                          *onDrive
	hook                           string
	heard                          chan string // events of the key's stream; closed when the stream ends
	delivered, control             chan string // messages of the key's webhook, and of another one
}

// receiver starts a receiver of webhooks.
func receiver(t *testing.T) (url string, messages chan string) {
	t.Helper()
	messages = make(chan string, 1<<14)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		messages <- string(body)
	}))
	t.Cleanup(server.Close)
	return server.URL, messages
}

// makesKey creates a key with the key of the client.
func (m *maker) makesKey(c *client, fields object) *client {
	m.t.Helper()
	made := c.send("POST", "/users/me/keys", fields).want(http.StatusCreated).object()
	with := c.withKey(made.text("key"))
	m.keys[with] = made.text("id")
	return with
}

func newMaker(t *testing.T, rules repository.Config, user object) *maker {
	t.Helper()
	m := &maker{ahead: &atomic.Int64{}, keys: map[*client]string{}}
	rules.Now, rules.AdminsInvite = func() time.Time { return time.Now().Add(time.Duration(m.ahead.Load())) }, true
	c := ownGateway(t, rules, handlers.Config{})
	m.drive = c.newDrive(nil)
	set := c.get("/sets/" + m.drive.set).object()
	m.space, m.set = &space{c, set.text("dataspaceId")}, m.drive.set
	if user != nil {
		m.user = c.newUser(user)
	} else {
		m.user = m.newMember("admin")
	}
	m.parent = m.makesKey(m.user, object{})
	m.key = m.makesKey(m.parent, object{"expires": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)})
	m.child = m.makesKey(m.key, object{})
	m.grandchild = m.makesKey(m.child, object{})
	m.cookie, _ = m.key.signIn()
	m.shared = m.key.upload(m.set, "shared.txt", "shared").text("id")
	m.share = m.key.newLink(object{"kind": "share", "setId": m.set})
	m.request = m.key.newLink(object{"kind": "request", "setId": m.set})
	m.invitation = m.key.newLink(object{"kind": "invitation", "dataspaceId": m.dataspace, "role": "editor"})
	m.chunks = m.request.started(2, "filename", "chunks.txt")
	m.request.puts(m.chunks, 0, "1").want(http.StatusNoContent)
	m.resumable = m.key.begin(2, "setId", m.set, "filename", "upload.txt")
	m.key.chunk(m.resumable, 0, "1").want(http.StatusNoContent)
	m.drive = m.drive.as(m.key)
	url, delivered := receiver(t)
	m.delivered = delivered
	m.hook = m.key.send("POST", "/webhooks", object{"url": url, "dataspaceId": m.dataspace}).want(http.StatusCreated).object().text("id")
	url, m.control = receiver(t)
	m.send("POST", "/webhooks", object{"url": url}).want(http.StatusCreated)
	m.heard = make(chan string, 1<<14)
	stream := m.key.follow("/events")
	go func() {
		defer close(m.heard)
		for lines := bufio.NewScanner(stream.body.(io.Reader)); lines.Scan(); {
			m.heard <- lines.Text()
		}
	}()
	return m
}

// awaits reads messages until one contains until. It reports whether one of them contained other.
// It returns false if the channel is closed.
func awaits(messages chan string, until, other string) (there bool) {
	for text := range messages {
		if there = there || strings.Contains(text, other); strings.Contains(text, until) {
			return there
		}
	}
	return there
}

// probes returns a request for each credential. The request succeeds as long as the credential is
// valid. The requests can be repeated, and do not affect each other.
func (m *maker) probes() map[string]func() *answer {
	writes := func(c *client, headers ...string) func() *answer {
		return func() *answer {
			return c.bad("POST", "/resources", form(text("setId", m.set), file(m.name("file"), "x")), headers...)
		}
	}
	return map[string]func() *answer{
		"key": writes(m.key), "session": writes(m.withKey(""), m.cookie), "child key": writes(m.child), "child of the child": writes(m.grandchild),
		"share":      func() *answer { return m.share.ask("GET", "/files/"+m.shared, nil) },
		"archive":    func() *answer { return m.share.ask("GET", "/archive", nil) },
		"request":    func() *answer { return m.request.ask("PUT", "/"+m.name("drop")+".txt", raw{"text/plain", []byte("x")}) },
		"chunks":     func() *answer { return m.request.bad("HEAD", m.chunks, nil, inTus) },
		"invitation": func() *answer { return m.invitation.ask("GET", "", nil) },
		"drive":      func() *answer { return m.drive.dav("PUT", "/"+m.name("drive"), "x") },
		"tus":        func() *answer { return m.key.begun(m.set) },
	}
}

// begun requests a new upload.
func (c *client) begun(set string) *answer {
	c.t.Helper()
	return c.bad("POST", "/uploads", nil, inTus, "Upload-Length: 1", uploadMetadata("setId", set, "filename", "a"))
}

// lasts returns requests that would end the object that they use. They are sent once, after the
// permission has ended.
func (m *maker) lasts() map[string]func() *answer {
	return map[string]func() *answer{
		"chunks": func() *answer { return m.request.puts(m.chunks, 1, "2") },
		"tus": func() *answer {
			return m.key.bad("PATCH", m.resumable, raw{"application/offset+octet-stream", []byte("2")}, inTus, "Upload-Offset: 1")
		},
		"invitation": func() *answer { return m.invitation.ask("POST", "", object{"username": m.name("guest")}) },
	}
}

// revocation is a way to end permissions. stays names the credentials that remain valid.
type revocation struct {
	what  string
	user  object // fields of the maker; nil makes it an admin of the dataspace
	end   func(m *maker)
	stays string
}

func revocations() []revocation {
	revoke := func(of func(m *maker) *client) func(*maker) {
		return func(m *maker) {
			m.send("DELETE", "/users/"+m.user.id+"/keys/"+m.keys[of(m)], nil).want(http.StatusNoContent)
		}
	}
	role := func(m *maker) string { return m.get("/privileges?userId=" + m.user.id).data()[0].text("id") }
	leave := func(m *maker) { m.send("DELETE", "/users/"+m.user.id, nil).want(http.StatusNoContent) }
	sysadmin := object{"sysadmin": true}
	return []revocation{
		{"key revoked", nil, revoke(func(m *maker) *client { return m.key }), ""},
		{"key revoked by itself", nil, func(m *maker) {
			m.key.send("DELETE", "/users/me/keys/"+m.keys[m.key], nil).want(http.StatusNoContent)
		}, ""},
		{"parent key revoked", nil, revoke(func(m *maker) *client { return m.parent }), ""},
		{"key expired", nil, func(m *maker) { m.ahead.Add(int64(2 * time.Hour)) }, ""},
		{"user deleted", nil, leave, ""},
		{"user deleted and restored", nil, func(m *maker) {
			leave(m)
			m.send("POST", "/users/"+m.user.id+"/restore", nil).want(http.StatusOK)
		}, ""},
		{"role removed", nil, func(m *maker) { m.send("DELETE", "/privileges/"+role(m), nil).want(http.StatusNoContent) }, ""},
		{"role removed in public", nil, func(m *maker) {
			m.send("PUT", "/dataspaces/"+m.dataspace, object{"visibility": "public"}).want(http.StatusOK)
			m.send("DELETE", "/privileges/"+role(m), nil).want(http.StatusNoContent)
		}, "events"},
		{"role lowered", nil, func(m *maker) {
			m.send("POST", "/privileges", object{"userId": m.user.id, "dataspaceId": m.dataspace, "role": "member"}).want(http.StatusOK)
		}, "events"},
		{"sysadmin demoted", sysadmin, func(m *maker) {
			m.send("PUT", "/users/"+m.user.id, object{"sysadmin": false}).want(http.StatusOK)
		}, ""},
		{"dataspace deleted", nil, func(m *maker) { m.send("DELETE", "/dataspaces/"+m.dataspace, nil).want(http.StatusNoContent) }, "events webhook"},
		{"links revoked", nil, func(m *maker) {
			for _, v := range []visitor{m.share, m.request, m.invitation} {
				m.send("DELETE", "/links/"+v.id, nil).want(http.StatusNoContent)
			}
		}, "key session child key child of the child drive tus events webhook"},
	}
}

// TestRevocations tests that each credential works until it ends in one of the ways, and is refused
// afterwards.
func TestRevocations(t *testing.T) {
	t.Parallel()
	for _, r := range revocations() {
		t.Run(r.what, func(t *testing.T) {
			t.Parallel()
			m := newMaker(t, repository.Config{}, r.user)
			probes := m.probes()
			for credential, ask := range probes {
				if a := ask(); a.status >= 300 {
					t.Errorf("%s, before: %s", credential, a.short())
				}
			}
			m.client.upload(m.set, "a.txt", "a")
			same(t, "events of the stream", awaits(m.heard, "resource.create", "resource.create"), true)
			same(t, "the webhook sends", awaits(m.delivered, "resource.create", "resource.create"), true)
			r.end(m)
			served := func(credential string, a *answer) {
				if stays := strings.Contains(r.stays, credential); (a.status < 300) != stays {
					t.Errorf("%s, served should be %v: %s", credential, stays, a.short())
				}
			}
			for credential, ask := range probes {
				served(credential, ask())
			}
			for credential, ask := range m.lasts() {
				served(credential, ask())
			}
			m.hears(strings.Contains(r.stays, "events"), strings.Contains(r.stays, "webhook"))
		})
	}
}

// hears checks whether the stream and the webhook receive the next events.
func (m *maker) hears(stream, webhook bool) {
	m.t.Helper()
	mark := "dataspace.delete"
	if m.get("/dataspaces/"+m.dataspace).object().text("state") == "active" {
		mark = m.newSet()
	}
	m.bad("POST", "/users/"+m.user.id+"/keys", nil) // the user receives this event in any case
	same(m.t, "the stream receives the event", awaits(m.heard, "key.create", mark), stream)
	awaits(m.control, mark, mark)
	if webhook {
		same(m.t, "the webhook sends it", awaits(m.delivered, mark, mark), true)
		return
	}
	eventually(m.t, "the webhook pauses", func() bool { return m.get("/webhooks/"+m.hook).object().text("state") == "paused" })
	for {
		select {
		case text := <-m.delivered:
			same(m.t, "the webhook sends it", strings.Contains(text, mark), false)
			continue
		default:
		}
		return
	}
}
