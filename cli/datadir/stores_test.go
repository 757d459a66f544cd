package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"labshelf/auth"
	"labshelf/cli/exit"
	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/repository"
)

// TestDatabase: a data directory with metadata in a database excludes other processes. A service
// can use it.
func TestDatabase(t *testing.T) {
	// Not in parallel: a child process that another test forks holds the lock until its exec.
	at := Stores{Metadata: servers.StartPostgres(t).Database(t)}
	path := t.TempDir()
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := Open(path, at)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, at); !errors.Is(err, ErrInUse) {
		t.Errorf("opening it a second time: %v", err)
	}
	if _, err := data.FileStats(); !errors.Is(err, ErrNoFile) {
		t.Errorf("state of the metadata file: %v", err)
	}
	repo := repository.New(data.Metadata, data.Blobs, repository.Config{})
	if _, err := data.Bootstrap(t.Context(), repo, auth.NewKey()); err != nil {
		t.Error(err)
	}
	repo.Close()
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := NewKey(t.Context(), path, at, "admin"); err != nil {
		t.Errorf("a key for the admin: %v", err)
	}
	read, err := OpenReadOnly(path, at)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Close(); err != nil {
		t.Error(err)
	}
}

// TestMixedStores: a combination of stores in which files would be missing, or visible to one node
// only, is rejected with the reason.
func TestMixedStores(t *testing.T) {
	t.Parallel()
	at := Stores{Metadata: servers.StartPostgres(t).Database(t)}
	folder := func() string {
		path := t.TempDir()
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	moved := folder()
	if err := os.WriteFile(filepath.Join(moved, MetadataFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(moved, at); !errors.Is(err, exit.ErrUsage) {
		t.Errorf("with a metadata file: %v", err)
	}
	data, err := Open(folder(), at)
	if err != nil {
		t.Fatal(err)
	}
	node := func(tx *metadata.Tx) metadata.Node {
		now := tx.Stamp()
		return metadata.Node{Instance: metadata.NewID(now), Name: "two", Since: now, Seen: now}
	}
	if err := data.Metadata.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Nodes.Put(node(tx)) }); err != nil {
		t.Fatal(err)
	}
	if err := data.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder(), at); !errors.Is(err, ErrMixed) {
		t.Errorf("while another node runs: %v", err)
	}
}
