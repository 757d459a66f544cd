package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/client"
	"labshelf/handlers"
	"labshelf/repository"
)

// service is a real one in a directory, behind a listening socket. It is what every test here speaks to that is not about answers
// that a service does not give.
type service struct {
	repo   *repository.Service
	meta   *bolt.Store
	server *httptest.Server
	key    string // of the first sysadmin

	mu     sync.Mutex
	before http.Handler // what sees a request first; nil: the service
}

// openService opens a service in an empty directory. The caller closes it.
func openService(dir string, rules repository.Config) (*service, error) {
	files, err := blobs.OpenDir(dir, blobs.OS{})
	if err != nil {
		return nil, err
	}
	meta, err := bolt.Open(filepath.Join(dir, "labshelf.db"), bolt.Options{})
	if err != nil {
		return nil, err
	}
	if rules.PageSize == 0 {
		rules.PageSize, rules.DirectoryPageSize = 100, 1000
	}
	s := &service{repo: repository.New(meta, files, rules), meta: meta}
	if s.key, err = s.repo.Bootstrap(context.Background(), ""); err != nil {
		return nil, err
	}
	handler := handlers.New(s.repo, handlers.Config{Hostname: "host", Version: "1.2.3"})
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		before := s.before
		s.mu.Unlock()
		if before != nil {
			before.ServeHTTP(intercepted{w, handler}, r)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	return s, nil
}

// intercepted is the answer to a request that something saw before the service.
type intercepted struct {
	http.ResponseWriter
	service http.Handler
}

// on hands a request on to the service.
func on(w http.ResponseWriter, r *http.Request) {
	i := w.(intercepted)
	i.service.ServeHTTP(i.ResponseWriter, r)
}

// intercept lets before see every request first, which hands it on.
func (s *service) intercept(before http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

func (s *service) base() string { return s.server.URL + "/v1" }

func (s *service) close() error {
	s.server.Close()
	s.repo.Close()
	return s.meta.Close()
}

// start starts a service for a test, and returns a client with the key of its sysadmin.
func start(t *testing.T) (*service, *client.Client) {
	t.Helper()
	s, err := openService(t.TempDir(), repository.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(s.base(), s.key)
	t.Cleanup(func() {
		c.Close()
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

// must ends the test after an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(got T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}
