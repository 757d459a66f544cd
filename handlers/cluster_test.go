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

// cluster says on what the gateways of the tests run. Without it on one service with a bbolt file;
// with "file" on two nodes over one such file, as if it could be shared, and with "postgres" on two
// nodes over a database: requests go to them in turn.
func cluster() string { return os.Getenv("NODES") }

// oneNode leaves out a test of what each node has for itself, such as limits, or of what it holds
// against a table behind the back of the service.
func oneNode(t *testing.T) {
	t.Helper()
	if cluster() != "" {
		t.Skip("each node has this for itself")
	}
}

// openTables opens the tables of each node. Closing the first closes all.
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

// server is the one database server of all tests; of which each gateway has a database.
var server = sync.OnceValues(func() (*servers.Postgres, error) { return servers.NewPostgres("max_connections=1000") })

// closeServer ends the server, if the tests have one.
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

// openDatabase opens the database of a directory, which has its address in a file.
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

// pair is a store that closes another one with it.
type pair struct {
	metadata.Store
	other io.Closer
}

func (p pair) Close() error { return errors.Join(p.Store.Close(), p.other.Close()) }
