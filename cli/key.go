package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"labshelf/repository"
)

// newKeyIn makes a key for a user in a data directory that is there already.
func newKeyIn(ctx context.Context, path, user string) (key string, err error) {
	if _, err := os.Stat(filepath.Join(path, metadataFile)); errors.Is(err, fs.ErrNotExist) {
		return "", usageError{fmt.Errorf("%s is no data directory: there is no %s; name the right one with --data", path, metadataFile)}
	}
	data, err := openData(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, data.close()) }()
	repo := repository.New(data.meta, data.blobs, repository.Config{})
	defer repo.Close()
	return repo.NewKeyFor(ctx, user)
}
