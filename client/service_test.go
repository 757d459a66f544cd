package client_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/client"
	"labshelf/handlers"
	"labshelf/repository"
	"labshelf/repository/webhooks"
)

// service is a real service in a directory, behind a listening socket. All tests use it, except
// tests of responses that a service never gives.
type service struct {
	repo    *repository.Service
	meta    *bolt.Store
	handler http.Handler
	server  *httptest.Server
	base    string // URL, ends with /v1
	key     string // key of the first sysadmin
}

// openService opens a service in an empty directory. The caller closes it.
func openService(dir string, rules repository.Config) (*service, error) {
	files, err := directory.Open(dir, directory.OS{})
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
	rules.IndexDir = filepath.Join(dir, "index")
	here, err := webhooks.ParseHosts([]string{"127.0.0.1"})
	if err != nil {
		return nil, err
	}
	rules.Webhooks = webhooks.NewSender(webhooks.Config{Hosts: here})
	s := &service{repo: repository.New(meta, files, rules), meta: meta}
	if s.key, err = s.repo.Users.Bootstrap(context.Background(), ""); err != nil {
		return nil, err
	}
	s.handler = handlers.New(s.repo, handlers.Config{Hostname: "host", Version: "1.2.3"})
	s.server = httptest.NewServer(s.handler)
	s.base = s.server.URL + "/v1"
	return s, nil
}

// silent discards the messages of servers about intended errors.
var silent = log.New(io.Discard, "", 0)

// behind returns a sysadmin's client of the service. before sees every request first, and may
// forward it.
func (s *service) behind(t *testing.T, before func(w http.ResponseWriter, r *http.Request, service http.Handler)) *client.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { before(w, r, s.handler) }))
	c := client.New(server.URL+"/v1", s.key)
	t.Cleanup(func() {
		c.Close()
		server.Close()
	})
	return c
}

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
	c := client.New(s.base, s.key)
	t.Cleanup(func() {
		c.Close()
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

// must returns a function that fails the test after an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(got T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
