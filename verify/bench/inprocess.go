package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/verify/e2e"
)

// inProcess is a repository that is open in this process, without HTTP.
type inProcess struct {
	meta   *bolt.Store
	repo   *repository.Service
	caller auth.Principal
}

// openInProcess opens the data directory of a stopped service, with files as the store of its
// files. The caller closes the result.
func openInProcess(ctx context.Context, data string, files blobs.Store, config repository.Config) (*inProcess, error) {
	key, err := os.ReadFile(filepath.Join(data, e2e.KeyFile))
	if err != nil {
		return nil, err
	}
	meta, err := bolt.Open(filepath.Join(data, "meta.db"), bolt.Options{})
	if err != nil {
		return nil, err
	}
	in := &inProcess{meta: meta, repo: repository.New(meta, files, config)}
	if in.caller, err = in.repo.Credentials.Authenticate(ctx, strings.TrimSpace(string(key)), auth.Origin{}); err != nil {
		return nil, errors.Join(err, in.close())
	}
	return in, nil
}

func (in *inProcess) close() error {
	in.repo.Close()
	return in.meta.Close()
}

// upload performs the steps of the service after it has read the request of an upload.
func (in *inProcess) upload(ctx context.Context, set, filename string, body []byte) (r metadata.Resource, err error) {
	upload := in.repo.Uploads.NewUpload(in.caller)
	defer func() { err = errors.Join(err, upload.Discard()) }()
	if err := upload.Receive(ctx, bytes.NewReader(body)); err != nil {
		return r, err
	}
	return upload.Create(ctx, files.UploadFields{SetID: &set, Filename: filename})
}

// fillers is the number of goroutines that fill a repository. They share commits.
const fillers = 128

// fill creates n resources with the same content in a data directory that no service has open. It
// assigns them to the sets in turn. If deleteEach is not 0, it deletes each deleteEach-th resource
// immediately. It calls the use cases in this process instead of uploading over HTTP. Only the
// first resource writes the body to the disk: writing it a hundred thousand times would take
// minutes.
func fill(ctx context.Context, data string, sets []string, n, deleteEach int) error {
	files, err := directory.Open(data, directory.OS{})
	if err == nil {
		err = fillFrom(ctx, data, files, sets, 0, min(n, 1), deleteEach)
	}
	if err == nil {
		err = fillFrom(ctx, data, blobstest.NewMemory(), sets, 1, n, deleteEach)
	}
	return err
}

// fillFrom is like fill, for the resources begin to end-1, and stores their bodies in files.
func fillFrom(ctx context.Context, data string, files blobs.Store, sets []string, begin, end, deleteEach int) (err error) {
	in, err := openInProcess(ctx, data, files, repository.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	content := body(smallFile, 0)
	return parallel(fillers, func(first int) error {
		for i := begin + first; i < end; i += fillers {
			set := sets[i%len(sets)]
			made, err := in.upload(ctx, set, filenameOf(uint64(i)), content)
			if err == nil && deleteEach > 0 && i%deleteEach == 0 {
				_, err = in.repo.Files.Delete(ctx, in.caller, made.ID.String(), core.Match{})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// fillVersions creates a resource with at least n versions in a data directory that no service has
// open, and returns its id. The first two versions have their own files. Each further version
// restores one of them.
func fillVersions(ctx context.Context, data, set string, n int) (id string, err error) {
	files, err := directory.Open(data, directory.OS{})
	if err != nil {
		return "", err
	}
	in, err := openInProcess(ctx, data, files, repository.Config{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	made, err := in.upload(ctx, set, filenameOf(0), body(smallFile, 0))
	if err != nil {
		return "", err
	}
	id = made.ID.String()
	if err := in.replace(ctx, id, filenameOf(0), body(smallFile, 1)); err != nil {
		return "", err
	}
	return id, parallel(fillers, func(worker int) error {
		for latest := 0; latest < n; worker++ {
			restored, err := in.repo.Versions.Restore(ctx, in.caller, id, []string{"1", "2"}[worker%2], core.Match{})
			if err != nil {
				return err
			}
			latest = int(restored.Version)
		}
		return nil
	})
}

// replace performs the steps of the service after it has read the request of a replacement.
func (in *inProcess) replace(ctx context.Context, id, filename string, body []byte) (err error) {
	upload := in.repo.Uploads.NewUpload(in.caller)
	defer func() { err = errors.Join(err, upload.Discard()) }()
	if err := upload.Receive(ctx, bytes.NewReader(body)); err != nil {
		return err
	}
	_, err = upload.Replace(ctx, id, files.UploadFields{Filename: filename})
	return err
}
