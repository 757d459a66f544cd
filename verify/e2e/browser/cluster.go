package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/internal/servers"
	"labshelf/verify/e2e"
)

// onCluster reports whether the tests use two nodes with PostgreSQL and S3 (NODES=cluster), which
// receive requests alternately.
func onCluster() bool { return os.Getenv("NODES") == "cluster" }

// OneNode skips a test of the state of a single node, such as its process or its files.
func OneNode(t *testing.T) {
	t.Helper()
	if onCluster() {
		t.Skip("this test needs a single node")
	}
}

// backing contains the servers behind all clusters of the tests.
type backing struct {
	database *servers.Postgres
	files    *servers.S3
}

var behind = sync.OnceValues(func() (b backing, err error) {
	if b.database, err = servers.NewPostgres("max_connections=1000"); err == nil {
		b.files, err = servers.NewS3()
	}
	return b, err
})

// closeBehind closes the servers, if they were started.
func closeBehind() error {
	if !onCluster() {
		return nil
	}
	b, err := behind()
	if err != nil {
		return err
	}
	return errors.Join(b.database.Close(), b.files.Close())
}

// openCluster is like Open, with two nodes.
func openCluster(t *testing.T, flags ...string) *Site {
	t.Helper()
	shell.need(t)
	b, err := behind()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	settings, err := servers.Settings(b.database.Database(t), b.files, folder)
	if err != nil {
		t.Fatal(err)
	}
	s := &Site{t: t, browser: shell}
	var nodes []*url.URL
	for n := range 2 {
		service, err := startNode(t, filepath.Join(folder, fmt.Sprint("node", n+1)), settings, s.Service, flags)
		if err != nil {
			t.Fatal(err)
		}
		at, err := url.Parse(strings.TrimSuffix(service.Base(), "/v1"))
		if err != nil {
			t.Fatal(err)
		}
		s.Service, nodes = service, append(nodes, at)
	}
	s.Origin = balance(t, nodes)
	s.Client = e2e.NewClient(s.Origin+"/v1", s.Key())
	return s
}

// startNode starts a node, with the key of the first node if that is not nil.
func startNode(t *testing.T, data, settings string, first *e2e.Service, flags []string) (*e2e.Service, error) {
	t.Helper()
	err := errors.Join(os.Mkdir(data, 0o700), os.WriteFile(filepath.Join(data, "config.toml"), []byte(settings), 0o600))
	if err == nil && first != nil {
		err = os.WriteFile(filepath.Join(data, e2e.KeyFile), []byte(first.Key()), 0o600)
	}
	if err != nil {
		return nil, err
	}
	service, err := e2e.Start(context.WithoutCancel(t.Context()), Program, data, flags...)
	if err == nil {
		t.Cleanup(func() {
			if err := service.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	return service, err
}

// Kill kills the service.
func (s *Site) Kill() {
	OneNode(s.t) // another node would continue
	s.Service.Kill()
}

// balance passes requests to nodes alternately, and returns its URL.
func balance(t *testing.T, nodes []*url.URL) (origin string) {
	t.Helper()
	var requests atomic.Int64
	balancer := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(nodes[int(requests.Add(1))%len(nodes)])
			r.Out.Host = r.In.Host
		},
		FlushInterval: -1, // flush streams immediately
		ErrorLog:      log.New(io.Discard, "", 0),
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(balancer.CloseClientConnections)
	t.Cleanup(balancer.Close)
	return balancer.URL
}
