package handlers_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"labshelf/bolt"
	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/postgres"
	"labshelf/repository/repositorytest"
)

// cluster returns the value of NODES, which selects the services of the tests. "" means one service
// with a bbolt file. "file" means two nodes over one such file, as if it could be shared.
// "postgres" means two nodes over a database. With two nodes, the client sends requests to them
// alternately.
func cluster() string { return os.Getenv("NODES") }

// oneNode skips a test if two nodes are used. It is for tests of state that each node has
// separately, such as limits, and for tests that write tables directly.
func oneNode(t *testing.T) {
	t.Helper()
	if cluster() != "" {
		t.Skip("each node has this state separately")
	}
}

// openTables opens the tables of each node. Closing the first one closes all.
func openTables(dir string, now func() time.Time) ([]metadata.Store, error) {
	if cluster() == "postgres" {
		return openDatabase(dir, now)
	}
	meta, err := bolt.Open(filepath.Join(dir, "labshelf.db"), bolt.Options{Now: now})
	if cluster() == "" || err != nil {
		return []metadata.Store{meta}, err
	}
	return []metadata.Store{&repositorytest.Shared{Store: meta}, &repositorytest.Shared{Store: meta}}, nil
}

// server is the database server of all tests. Each gateway has its own database.
var server = sync.OnceValues(func() (*servers.Postgres, error) { return servers.NewPostgres("max_connections=1000") })

// closeServer stops the server if the tests have started it.
func closeServer() error {
	if cluster() != "postgres" {
		return nil
	}
	p, err := server()
	if err != nil {
		return err
	}
	return p.Close()
}

// openDatabase opens the database of a directory, whose address is in a file there.
func openDatabase(dir string, now func() time.Time) ([]metadata.Store, error) {
	p, err := server()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "database")
	known, err := os.ReadFile(file)
	address := string(known)
	if errors.Is(err, fs.ErrNotExist) {
		if address, err = p.NewDatabase(); err == nil {
			err = os.WriteFile(file, []byte(address), 0o600)
		}
	}
	if err != nil {
		return nil, err
	}
	var nodes [2]*postgres.Store
	for n := range nodes {
		if nodes[n], err = postgres.Open(context.Background(), address, postgres.Options{Now: now}); err != nil {
			return nil, err
		}
	}
	return []metadata.Store{pair{nodes[0], nodes[1]}, nodes[1]}, nil
}

// pair is a store that also closes another one.
type pair struct {
	metadata.Store
	other io.Closer
}

func (p pair) Close() error { return errors.Join(p.Store.Close(), p.other.Close()) }
