package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"labshelf/internal/testhome"
)

// program builds the executable once for all tests of the package.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "labshelf-e2e")
	if err != nil {
		return "", err
	}
	return Build(context.Background(), folder, buildFlags()...)
})

// TestMain removes the executable at the end.
func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	_ = testhome.Remove()
	os.Exit(code)
}

// serve starts the real program with a data directory and flags. The end of the test stops it,
// which must succeed.
func serve(t *testing.T, data string, flags ...string) *Service {
	t.Helper()
	path, err := program()
	check(t, err)
	service, err := Start(context.Background(), path, data, flags...) // the test's own context ends before the service is stopped
	check(t, err)
	t.Cleanup(func() {
		if err := service.Stop(); err != nil {
			t.Error(err)
		}
	})
	return service
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eachOf calls fn with every item, in eight goroutines. After an error it starts no further call.
func eachOf[T any](t *testing.T, items []T, fn func(T) error) {
	t.Helper()
	const clients = 8
	var (
		workers sync.WaitGroup
		queue   = make(chan T)
		failed  = make(chan error, clients)
	)
	for range clients {
		workers.Go(func() {
			for item := range queue {
				if err := fn(item); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	var err error
	for i := 0; i < len(items) && err == nil; i++ {
		select {
		case queue <- items[i]:
		case err = <-failed:
		}
	}
	close(queue)
	workers.Wait()
	close(failed)
	for other := range failed {
		err = errors.Join(err, other)
	}
	check(t, err)
}
