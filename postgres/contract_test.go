package postgres_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"labshelf/bolt"
	"labshelf/internal/servers"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/postgres"
	"labshelf/repository/repositorytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reviewed is a store that is checked when it is closed, except for its stamps, because the suite
// uses arbitrary stamps.
type reviewed struct{ *postgres.Store }

func (r reviewed) Close() (err error) {
	snapshot, err := r.Snapshot(context.Background())
	if err != nil {
		return errors.Join(err, r.Store.Close())
	}
	folder, err := os.MkdirTemp("", "reviewed")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, "meta.db")
	err = errors.Join(write(path, snapshot), snapshot.Close())
	if err == nil {
		err = inspect(path)
	}
	return errors.Join(err, os.RemoveAll(folder), r.Store.Close())
}

func write(path string, from io.Reader) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}

func inspect(path string) error {
	file, err := bolt.Open(path, bolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	failed := file.Inspect(context.Background(), func(v metadata.Violation) {
		if !strings.Contains(v.Wrong, "later than the last one given out") {
			err = errors.Join(err, fmt.Errorf("violation: %v", v))
		}
	})
	return errors.Join(err, failed, file.Close())
}

// schemas gives each folder of a test a separate schema in one database.
func schemas(t *testing.T) metadatatest.Open {
	server := servers.StartPostgres(t, "max_connections=400")
	address := server.Database(t)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	var mu sync.Mutex
	of := map[string]string{}
	return func(dir string, now func() time.Time) (metadata.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if of[dir] == "" {
			name := fmt.Sprintf("s%d", len(of))
			if _, err := conn.Exec(context.Background(), "create schema "+name); err != nil {
				return nil, err
			}
			of[dir] = with(address, "pool_max_conns", "6", "search_path", name)
		}
		s, err := postgres.Open(context.Background(), of[dir], postgres.Options{Now: now})
		if err != nil {
			return nil, err
		}
		return reviewed{s}, nil
	}
}

// with adds settings to an address.
func with(address string, settings ...string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	query := u.Query()
	for i := 0; i < len(settings); i += 2 {
		query.Set(settings[i], settings[i+1])
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func TestContract(t *testing.T) {
	metadatatest.Run(t, schemas(t))
}

// TestContractAgainstModel runs fewer histories than the same test of the embedded engine, unless
// -rapid.checks sets a number. Each history connects to a server several times.
func TestContractAgainstModel(t *testing.T) {
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		if err := flag.Set("rapid.checks", "10"); err != nil {
			t.Fatal(err)
		}
	}
	metadatatest.Compare(t, schemas(t), "", repositorytest.Purge)
}
