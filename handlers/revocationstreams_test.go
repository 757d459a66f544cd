package handlers_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"labshelf/repository"
	"labshelf/repository/core"
)

// cutting is the writer of an answer that runs a function when the first bytes are written.
type cutting struct {
	httptest.ResponseRecorder
	act  func()
	sent int
	end  []byte // end of the sent bytes
}

func (c *cutting) Write(p []byte) (int, error) {
	if c.act != nil {
		act := c.act
		c.act = nil
		act()
	}
	c.sent += len(p)
	c.end = append(c.end, p...)
	c.end = c.end[max(0, len(c.end)-200):]
	return len(p), nil
}

// begun is a partly received answer: the end of the received bytes, and whether it was cut off.
type begun struct {
	status, sent int
	cut          bool
	end          string
}

// during serves a request and runs a function when the answer begins.
func (m *maker) during(method, address string, headers []string, act func()) (p begun) {
	m.t.Helper()
	request := httptest.NewRequest(method, address, nil)
	request.RemoteAddr = "127.0.0.1:1"
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	w := &cutting{act: act}
	func() {
		defer func() {
			if broken := recover(); broken != nil {
				same(m.t, "a panic", broken, any(http.ErrAbortHandler))
				p.cut = true
			}
		}()
		m.server.Config.Handler.ServeHTTP(w, request)
	}()
	p.status, p.sent, p.end = max(w.Code, http.StatusOK), w.sent, string(w.end)
	return p
}

// together runs functions that each call their argument in the middle of their work. It calls end
// when all have called it or returned.
func together(each []func(middle func()), end func()) {
	var begun, done sync.WaitGroup
	ended := make(chan struct{})
	for _, run := range each {
		begun.Add(1)
		arrive := sync.OnceFunc(begun.Done)
		done.Go(func() {
			defer arrive()
			run(func() { arrive(); <-ended })
		})
	}
	begun.Wait()
	end()
	close(ended)
	done.Wait()
}

// TestRevocationsInStreams tests that a long answer ends after the permission has ended, with at
// most one more part.
func TestRevocationsInStreams(t *testing.T) {
	t.Parallel()
	for i, r := range revocations() {
		if testing.Short() && i%4 != 0 {
			continue
		}
		if strings.HasPrefix(r.what, "role") && r.what != "role removed" || r.what == "dataspace deleted" { // these do not end the permission to read
			continue
		}
		if r.stays == "" && r.what != "role removed" { // the key ends, even if it belongs to a sysadmin
			r.user = object{"sysadmin": true}
		}
		t.Run(r.what, func(t *testing.T) { endStreams(t, r) })
	}
}

// endStreams ends a permission in the middle of all answers that depend on it.
func endStreams(t *testing.T, r revocation) {
	m := newMaker(t, repository.Config{}, r.user)
	big := m.client.upload(m.set, "big.bin", string(randomBytes(3*core.StreamPart))).text("id")
	m.fill()
	m.lose()
	var each []func(func())
	for what, of := range streams() {
		if of.sysadmins && r.user == nil || strings.Contains(r.stays, "key") && !strings.HasPrefix(what, "link") {
			continue
		}
		address, headers := of.request(m, big)
		whole := m.during(of.method(), address, headers, func() {})
		same(t, what+" before: is served, and not cut off", whole.status < 300 && whole.sent > 0 && !whole.cut, true)
		each = append(each, func(middle func()) {
			part := m.during(of.method(), address, headers, middle)
			ended := part.cut && part.sent < whole.sent
			if of.says != "" {
				ended = strings.Contains(part.end, of.says) && !strings.Contains(part.end, `{"end":`)
			}
			if part.status >= 300 || !ended || part.sent > core.StreamPart+1<<20 {
				t.Errorf("%s: %d, %d bytes of %d were sent, cut off: %v; the last bytes are %s", what, part.status, part.sent, whole.sent, part.cut, part.end)
			}
		})
	}
	together(each, func() { r.end(m) })
}

// lose removes the file of a record, so that a check reports it.
func (m *maker) lose() {
	m.t.Helper()
	content := strings.Repeat("lost", 100_000)
	m.client.upload(m.newSet(), "lost.bin", content)
	if err := os.Remove(m.blobFile(content)); err != nil {
		m.t.Fatal(err)
	}
}

func randomBytes(n int) []byte {
	var seed [32]byte
	source, all := rand.NewChaCha8(seed), make([]byte, n)
	_, _ = source.Read(all)
	return all
}

// streamed is a request with a long answer.
type streamed struct {
	request   func(m *maker, big string) (address string, headers []string)
	sysadmins bool   // only for sysadmins
	says      string // error in the last line of a POST; "" if the answer is cut off
}

func (s streamed) method() string {
	if s.says != "" {
		return http.MethodPost
	}
	return http.MethodGet
}

func streams() map[string]streamed {
	byKey := func(path string) streamed {
		return streamed{request: func(m *maker, big string) (string, []string) {
			return m.base + strings.NewReplacer("BIG", big, "SET", m.set, "DIGEST", m.get("/resources/"+big).object().text("sha256")).Replace(path), []string{"Authorization: " + m.key.key}
		}}
	}
	sysadmins := func(s streamed) streamed { s.sysadmins = true; return s }
	saying := func(text string, s streamed) streamed { s.says = text; return s }
	return map[string]streamed{
		"data": byKey("/resources/BIG/data"), "version": byKey("/resources/BIG/versions/1/data"), "archive": byKey("/sets/SET/archive"),
		"parts": {request: func(m *maker, big string) (string, []string) {
			return m.base + "/resources/" + big + "/data", []string{"Authorization: " + m.key.key, "Range: bytes=1-"}
		}},
		"session": {request: func(m *maker, big string) (string, []string) {
			return m.base + "/resources/" + big + "/data", []string{m.cookie}
		}},
		"child": {request: func(m *maker, big string) (string, []string) {
			return m.base + "/resources/" + big + "/data", []string{"Authorization: " + m.grandchild.key}
		}},
		"drive": {request: func(m *maker, big string) (string, []string) {
			return m.server.URL + m.drive.folder + "/big.bin", []string{"Authorization: " + m.key.key}
		}},
		"metadata":     byKey("/sets/SET/metadata"),
		"audit":        sysadmins(byKey("/audit/export")),
		"blob":         sysadmins(byKey("/admin/blobs/DIGEST")),
		"snapshot":     sysadmins(byKey("/admin/snapshot")),
		"check":        saying(`{"error":`, sysadmins(byKey("/admin/check"))),
		"link file":    {request: func(m *maker, big string) (string, []string) { return m.share.address + "/files/" + big, nil }},
		"link archive": {request: func(m *maker, _ string) (string, []string) { return m.share.address + "/archive", nil }},
	}
}

// fill creates this many files and changes them, so that listings and a snapshot take several
// steps.
func (m *maker) fill() {
	m.t.Helper()
	made := make([]string, 260)
	described := fmt.Sprintf(`{"properties": {"text": [%s"end"]}}`, strings.Repeat(`"`+strings.Repeat("x", 990)+`",`, 8))
	var senders sync.WaitGroup
	for first := range 20 {
		senders.Go(func() {
			for i := first; i < len(made); i += 20 {
				made[i] = m.client.upload(m.set, m.name("filled"), "x", text("metadata", described)).text("id")
			}
		})
	}
	senders.Wait()
	tags := object{"ids": made, "addTags": []string{strings.Repeat("tag", 30)}}
	m.send("POST", "/sets/"+m.set+"/metadata", tags).want(http.StatusOK)
}

// TestRevocationsInUploads tests that a file is not stored if its permission ends during the
// upload.
func TestRevocationsInUploads(t *testing.T) {
	t.Parallel()
	for _, r := range revocations() {
		if strings.Contains(r.stays, "key") {
			continue
		}
		t.Run(r.what, func(t *testing.T) {
			t.Parallel()
			m := newMaker(t, repository.Config{}, r.user)
			before := m.stored()
			var each []func(func())
			for what, begin := range uploadsDuring() {
				send := begin(m)
				each = append(each, func(middle func()) {
					if a := send(middle); a.status < 400 {
						t.Errorf("%s: %s", what, a.short())
					}
				})
			}
			together(each, func() { r.end(m) })
			same(t, "files", m.stored(), before)
		})
	}
}

// stored lists the files of the set, in all states.
func (m *maker) stored() string {
	m.t.Helper()
	all, _ := m.walk("/sets/" + m.set + "/resources?state=all")
	return fmt.Sprint(ids(all, "name"))
}

// uploadsDuring returns the ways to upload a file. Each starts an upload, and returns a function
// that sends the file and calls middle halfway.
func uploadsDuring() map[string]func(*maker) func(middle func()) *answer {
	half := func(body []byte, act func()) *interrupted {
		return &interrupted{rest: body, at: len(body) / 2, act: act}
	}
	formed := func(size int, of func(*maker) (*client, []string)) func(*maker) func(func()) *answer {
		return func(m *maker) func(func()) *answer {
			c, headers := of(m)
			body := form(text("setId", m.set), file("during.txt", strings.Repeat("x", size)))
			return func(middle func()) *answer {
				return c.bad("POST", "/resources", half(body.body, middle), append(headers, "Content-Type: "+body.contentType)...)
			}
		}
	}
	key := func(m *maker) (*client, []string) { return m.key, nil }
	sent := func(method string, c func(*maker) *client, at func(*maker) string, headers ...string) func(*maker) func(func()) *answer {
		return func(m *maker) func(func()) *answer {
			address := at(m)
			return func(middle func()) *answer {
				return c(m).bad(method, address, half([]byte("contents"), middle), headers...)
			}
		}
	}
	chunk := []string{inTus, "Content-Type: application/offset+octet-stream", "Upload-Offset: 0"}
	byKey := func(m *maker) *client { return m.key }
	byVisitor := func(m *maker) *client { return m.request.client }
	return map[string]func(*maker) func(func()) *answer{
		"form": formed(7, key), "large form": formed(3*core.StreamPart, key),
		"session": formed(7, func(m *maker) (*client, []string) { return m.withKey(""), []string{m.cookie} }),
		"child":   formed(7, func(m *maker) (*client, []string) { return m.grandchild, nil }),
		"tus":     sent("PATCH", byKey, func(m *maker) string { return m.key.begin(8, "setId", m.set, "filename", "during.txt") }, chunk...),
		"drive":   sent("PUT", byKey, func(m *maker) string { return m.server.URL + m.drive.folder + "/during.txt" }),
		"request": sent("PUT", byVisitor, func(m *maker) string { return m.request.address + "/during.txt" }),
		"chunks":  sent("PATCH", byVisitor, func(m *maker) string { return m.request.started(8, "filename", "during.txt") }, chunk...),
	}
}

// TestRevokedKeysOpenNoRoute tests that no operation accepts an ended key, its session, or a key
// created with it.
func TestRevokedKeysOpenNoRoute(t *testing.T) {
	t.Parallel()
	for _, r := range revocations() {
		if r.stays != "" || strings.HasPrefix(r.what, "role") || strings.HasPrefix(r.what, "sysadmin") {
			continue
		}
		t.Run(r.what, func(t *testing.T) {
			t.Parallel()
			m := newMaker(t, repository.Config{Anonymous: true}, nil)
			f := m.newFixture(nil)
			r.end(m)
			for _, op := range someOperations() {
				if op.who().Word == "everybody" {
					continue
				}
				var body any
				if op.body != nil {
					body = op.body(f)
				}
				route := routeOf(op.id)
				for _, c := range []*client{m.key, m.child, m.grandchild} {
					c.send(route.Method, f.path(route, f.ids), body).problem(http.StatusUnauthorized, "unauthenticated", "")
				}
				m.withKey("").send(route.Method, f.path(route, f.ids), body, m.cookie).want(http.StatusUnauthorized)
			}
		})
	}
}
