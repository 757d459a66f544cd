package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/postgres"
)

func refused(t *testing.T, address string, want error, names string) {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err == nil {
		err = s.Close()
		t.Fatalf("opened; close: %v", err)
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), names) {
		t.Errorf("got error %v, want %v with %s", err, want, names)
	}
}

// TestUnsafeSettings tests that a server or session that may lose acknowledged commits is refused,
// with the name of the setting.
func TestUnsafeSettings(t *testing.T) {
	t.Parallel()
	refused(t, servers.StartPostgres(t, "fsync=off").Database(t), postgres.ErrUnsafe, "fsync")
	refused(t, servers.StartPostgres(t, "full_page_writes=off").Database(t), postgres.ErrUnsafe, "full_page_writes")
	address := servers.StartPostgres(t).Database(t)
	refused(t, with(address, "synchronous_commit", "off"), postgres.ErrUnsafe, "synchronous_commit")
	open(t, address)
}

// TestAddresses tests that an invalid address is refused with an error that does not contain the
// password.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, names := range map[string]string{
		"postgres://labshelf:s3cret@127.0.0.1:1/labshelf":                "127.0.0.1:1",
		"postgres://labshelf:s3cret@127.0.0.1:port/labshelf":             "",
		"postgres://labshelf:s3cret@127.0.0.1/labshelf?pool_max_conns=x": "pool_max_conns",
	} {
		s, err := postgres.Open(t.Context(), address, postgres.Options{})
		if err == nil {
			t.Fatal(s.Close())
		}
		if strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), names) {
			t.Errorf("%q, want an error with %q and without the password", err, names)
		}
	}
}

// TestStandby tests that a standby server accepts no changes.
func TestStandby(t *testing.T) {
	t.Parallel()
	primary := servers.StartPostgres(t)
	address := primary.Database(t)
	open(t, address)
	refused(t, primary.Standby(t, false).At(address), metadata.ErrUnavailable, "")
}

// TestNewerSchema tests that a node of an older program refuses tables with a newer schema, also
// while the node runs.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	server := servers.StartPostgres(t)
	address := server.Database(t)
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := server.Query(t.Context(), address, "update state set schema = 999"); err != nil {
		t.Fatal(err)
	}
	nothing := func(tx *metadata.Tx) error { tx.Access(); return nil }
	if err := s.View(t.Context(), nothing); !errors.Is(err, metadata.ErrTooNew) {
		t.Errorf("a view: %v", err)
	}
	if err := s.Update(t.Context(), nothing); !errors.Is(err, metadata.ErrTooNew) {
		t.Errorf("an update: %v", err)
	}
	if _, err := s.AccessVersion(t.Context()); !errors.Is(err, metadata.ErrTooNew) {
		t.Errorf("the access version: %v", err)
	}
	refused(t, address, metadata.ErrTooNew, "999")
	if _, err := server.Query(t.Context(), address, "update state set schema = 13"); err != nil {
		t.Fatal(err)
	}
	refused(t, address, metadata.ErrTooOld, "13")
	if _, err := server.Query(t.Context(), address, "insert into migrations (number) values (999)"); err != nil {
		t.Fatal(err)
	}
	refused(t, address, metadata.ErrTooNew, "999")
}

// TestConcurrentStart tests that several nodes can create the tables of one database at the same
// time.
func TestConcurrentStart(t *testing.T) {
	t.Parallel()
	address := servers.StartPostgres(t).Database(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			s, err := postgres.Open(t.Context(), address, postgres.Options{})
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// TestReadOnly tests that a read-only store creates no tables, and refuses changes.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	server := servers.StartPostgres(t)
	address := server.Database(t)
	if s, err := postgres.Open(t.Context(), address, postgres.Options{ReadOnly: true}); err == nil {
		t.Fatal("an empty database was opened", s.Close())
	}
	open(t, address)
	s, err := postgres.Open(t.Context(), address, postgres.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(t.Context(), func(tx *metadata.Tx) error { tx.Stamp(); return nil })
	if !errors.Is(err, metadata.ErrReadOnly) || !errors.Is(s.Health().ReadOnly, metadata.ErrReadOnly) {
		t.Errorf("an update: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
