package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/postgres"
	"labshelf/verify/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reviewed is a store that is checked when it is closed; but for stamps, since the suite makes rows with any.
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
		if v.Kind != "stamp" {
			err = errors.Join(err, fmt.Errorf("violation: %v", v))
		}
	})
	return errors.Join(err, failed, file.Close())
}

// databases gives each folder of a test a database of its own.
func databases(server *servers.Postgres) metadatatest.Open {
	var mu sync.Mutex
	addresses := map[string]string{}
	return func(dir string, now func() time.Time) (metadata.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if addresses[dir] == "" {
			address, err := server.NewDatabase()
			if err != nil {
				return nil, err
			}
			addresses[dir] = withPool(address, 6)
		}
		s, err := postgres.Open(context.Background(), addresses[dir], postgres.Options{Now: now})
		if err != nil {
			return nil, err
		}
		return reviewed{s}, nil
	}
}

// withPool bounds the connections of a store, of which a test opens many.
func withPool(address string, most int) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	query := u.Query()
	query.Set("pool_max_conns", fmt.Sprint(most))
	u.RawQuery = query.Encode()
	return u.String()
}

func TestContract(t *testing.T) {
	metadatatest.Run(t, databases(servers.StartPostgres(t, "max_connections=400")))
}

func TestContractAgainstModel(t *testing.T) {
	metadatatest.Compare(t, databases(servers.StartPostgres(t)), "")
}
