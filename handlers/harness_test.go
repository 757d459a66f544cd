package handlers_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/handlers"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
	"labshelf/repository/webhooks"
	"labshelf/web"
)

// gateway is a running service with real stores.
type gateway struct {
	dir    string
	repo   *repository.Service
	others []*repository.Service // other nodes, which are used alternately with repo; see cluster
	meta   metadata.Store
	admin  string // key of the first sysadmin
	log    *journal
	server *httptest.Server
	base   string // URL, ends with /v1
	names  *atomic.Int64
}

// openGateway opens stores in an empty directory. The caller closes the gateway.
func openGateway(dir string, disk directory.FS, rules repository.Config) (*gateway, error) {
	rules.IndexDir = filepath.Join(dir, "index")
	return openGatewayOver(dir, disk, rules, func(store *directory.Store) blobs.Folder { return store })
}

// openGatewayOver is like openGateway, with a layer between the service and its blobs. It has no
// index, because the index would also read the blobs.
func openGatewayOver(dir string, disk directory.FS, rules repository.Config, between func(*directory.Store) blobs.Folder) (*gateway, error) {
	store, err := directory.Open(dir, disk)
	if err != nil {
		return nil, err
	}
	tables, err := openTables(dir, rules.Now)
	if err != nil {
		return nil, err
	}
	if rules.PageSize == 0 {
		rules.PageSize, rules.DirectoryPageSize = 100, 1000
	}
	if rules.Webhooks == nil {
		here, err := webhooks.ParseHosts([]string{"127.0.0.1"})
		if err != nil {
			return nil, err
		}
		rules.Webhooks = webhooks.NewSender(webhooks.Config{Hosts: here})
	}
	g := &gateway{dir: dir, meta: tables[0], log: &journal{}, names: &atomic.Int64{}}
	files := between(store)
	for n, meta := range tables {
		audited := repositorytest.Audited{Store: meta, Fail: func(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }}
		if n == 0 {
			g.repo = repository.New(audited, files, rules)
			continue
		}
		if rules.IndexDir != "" {
			rules.IndexDir += "-b"
		}
		g.others = append(g.others, repository.New(audited, files, rules))
	}
	g.admin, err = g.repo.Users.Bootstrap(context.Background(), "")
	return g, err
}

// serve starts a server for the service.
func (g *gateway) serve(config handlers.Config) {
	config.Log = zerolog.New(g.log)
	config.Hostname, config.Version, config.Pages = "host", "1.2.3", web.Files()
	nodes := []http.Handler{handlers.New(g.repo, config)}
	for _, other := range g.others {
		nodes = append(nodes, handlers.New(other, config))
	}
	var requests atomic.Int64
	g.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nodes[int(requests.Add(1))%len(nodes)].ServeHTTP(w, r)
	}))
	g.base = g.server.URL + "/v1"
}

func (g *gateway) close() error {
	g.server.Close()
	for _, other := range g.others {
		other.Close()
	}
	g.repo.Close()
	return g.meta.Close()
}

// ownGateway opens a service for a single test.
func ownGateway(t *testing.T, rules repository.Config, config handlers.Config) *client {
	t.Helper()
	rules.IndexDir = filepath.Join(t.TempDir(), "index")
	return gatewayOver(t, config, rules, func(store *directory.Store) blobs.Folder { return store })
}

// gatewayOver is like ownGateway, with a layer between the service and its blobs.
func gatewayOver(t *testing.T, config handlers.Config, rules repository.Config, between func(*directory.Store) blobs.Folder) *client {
	t.Helper()
	g, err := openGatewayOver(t.TempDir(), directory.OS{}, rules, between)
	if err != nil {
		t.Fatal(err)
	}
	g.serve(config)
	t.Cleanup(func() {
		if err := g.close(); err != nil {
			t.Error(err)
		}
	})
	return &client{gateway: g, t: t, key: g.admin}
}

// sysadmin returns a client for the first sysadmin of the shared service.
func sysadmin(t *testing.T) *client {
	return &client{gateway: suite.gateway, t: t, key: suite.gateway.admin}
}

// configured returns the client of another handler for the same service.
func (c *client) configured(config handlers.Config) *client {
	other := *c.gateway
	other.log = &journal{}
	other.serve(config)
	c.t.Cleanup(other.server.Close)
	return &client{gateway: &other, t: c.t, key: c.key, id: c.id}
}

// journal is a log in memory.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	if err := leaks(p); err != nil {
		suite.leaked(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// client calls a gateway as one user.
type client struct {
	*gateway
	t   *testing.T
	key string
	id  string // id of the user; "" for the first sysadmin

	unlimited string // another key of the user, if key has limits
}

// on returns the client for a subtest.
func (c *client) on(t *testing.T) *client {
	other := *c
	other.t = t
	return &other
}

// withKey returns the client with another Authorization header.
func (c *client) withKey(key string) *client {
	other := *c
	other.key = key
	return &other
}

// name returns a unique name.
func (c *client) name(prefix string) string {
	return fmt.Sprintf("%s-%d", prefix, c.names.Add(1))
}

// raw is a body that is sent unchanged.
type raw struct {
	contentType string
	body        []byte
}

// headed is a body with additional headers.
type headed struct {
	raw
	headers []string
}

// get sends a valid GET. A path is relative to the base URL unless it is a whole URL.
func (c *client) get(path string, headers ...string) *answer {
	c.t.Helper()
	return c.send("GET", path, nil, headers...)
}

// send sends a request that matches the document. body is nil, a raw body, or a value that is
// encoded as JSON. headers are lines.
func (c *client) send(method, path string, body any, headers ...string) *answer {
	c.t.Helper()
	return c.exchange(true, method, path, body, headers)
}

// bad sends a request that need not match the document.
func (c *client) bad(method, path string, body any, headers ...string) *answer {
	c.t.Helper()
	return c.exchange(false, method, path, body, headers)
}

func (c *client) exchange(good bool, method, path string, body any, headers []string) *answer {
	c.t.Helper()
	request := c.request(method, path, body, headers)
	var sent []byte
	if request.GetBody != nil {
		again, _ := request.GetBody() // it reads from memory
		sent, _ = io.ReadAll(again)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	got, err := readAnswer(response)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	a := &answer{t: c.t, what: method + " " + path, status: response.StatusCode, header: response.Header, body: got}
	if err := suite.check(exchange{request, sent, good, response, got}); err != nil {
		c.t.Errorf("%s %s: %v\n%s", method, path, err, a.short())
	}
	return a
}

// readAnswer reads a complete answer. An event stream has no end, so it reads only what arrives
// immediately.
func readAnswer(response *http.Response) ([]byte, error) {
	if response.Header.Get("Content-Type") != "text/event-stream" || response.Request.Method == http.MethodHead {
		return io.ReadAll(response.Body)
	}
	var got []byte
	for lines := bufio.NewReader(response.Body); !bytes.HasSuffix(got, []byte("\n\n")); {
		line, err := lines.ReadBytes('\n')
		if got = append(got, line...); err != nil {
			return got, err
		}
	}
	return got, nil
}

// httpClient does not follow redirects and does not decompress.
var httpClient = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 32},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (c *client) request(method, path string, body any, headers []string) *http.Request {
	c.t.Helper()
	if !strings.Contains(path, "://") {
		path = c.base + path
	}
	var reader io.Reader
	contentType := ""
	if with, ok := body.(headed); ok {
		headers, body = slices.Concat(with.headers, headers), with.raw
	}
	switch body := body.(type) {
	case nil:
	case raw:
		reader, contentType = bytes.NewReader(body.body), body.contentType
	case io.Reader:
		reader = body
	default:
		text, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}
		reader, contentType = bytes.NewReader(text), "application/json"
	}
	request, err := http.NewRequest(method, path, reader)
	if err != nil {
		c.t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if c.key != "" {
		request.Header.Set("Authorization", c.key)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Add(name, value)
	}
	return request
}

// answer is a received answer.
type answer struct {
	t      *testing.T
	what   string
	status int
	header http.Header
	body   []byte
}

func (a *answer) short() string {
	return fmt.Sprintf("%d %v\n%.2000s", a.status, a.header, a.body)
}

// want ends the test unless the answer has this status.
func (a *answer) want(status int) *answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: want %d, got %s", a.what, status, a.short())
	}
	return a
}

// problem checks that the answer is this refusal. field may be "".
func (a *answer) problem(status int, code errs.Code, field string) *answer {
	a.t.Helper()
	var p struct {
		Type, Title, Detail, Code, Field, RequestID string
		Status                                      int
	}
	if a.header.Get("Content-Type") != "application/problem+json" {
		a.t.Errorf("%s: want a problem %d %s %q, got %s", a.what, status, code, field, a.short())
		return a
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		a.t.Errorf("%s: %v in %s", a.what, err, a.short())
	}
	if a.status != status || p.Status != status || p.Code != string(code) || p.Field != field {
		a.t.Errorf("%s: want a problem %d %s %q, got %s", a.what, status, code, field, a.short())
	}
	title := cmp.Or(http.StatusText(status), "Checksum Mismatch") // the only status that belongs to tus
	if p.Title != title || p.Type != "about:blank" || p.Detail == "" || p.RequestID != a.header.Get("X-Request-Id") {
		a.t.Errorf("%s: the problem is not whole: %s", a.what, a.short())
	}
	return a
}

// object is a JSON object.
type object map[string]any

func (o object) text(member string) string {
	s, _ := o[member].(string)
	return s
}

// object decodes the body.
func (a *answer) object() object {
	a.t.Helper()
	var o object
	if err := json.Unmarshal(a.body, &o); err != nil {
		a.t.Fatalf("%s: %v in %s", a.what, err, a.short())
	}
	return o
}

// data returns the objects of a page, or none at the end.
func (a *answer) data() (items []object) {
	a.t.Helper()
	list, _ := a.want(http.StatusOK).object()["data"].([]any)
	for _, item := range list {
		items = append(items, object(item.(map[string]any)))
	}
	return items
}
