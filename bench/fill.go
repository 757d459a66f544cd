package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"labshelf/blobs/blobstest"
	"labshelf/bolt"
	"labshelf/e2e"
	"labshelf/repository"
)

// shelf makes a repository of n resources, all in one set.
func (b *bench) shelf(ctx context.Context, n int) (*shelf, error) {
	name := fmt.Sprintf("pages-%d", n)
	service, set, err := b.start(ctx, name)
	if err != nil {
		return nil, err
	}
	var made struct{ DataspaceID string }
	err = errors.Join(service.Call(ctx, "GET", "/sets/"+set, nil, &made), service.Stop())
	if err != nil {
		return nil, err
	}
	data := filepath.Join(b.folder, name)
	if err := fill(ctx, data, set, n); err != nil {
		return nil, err
	}
	if service, err = e2e.Start(ctx, b.program, data); err != nil {
		return nil, err
	}
	listings := []string{"/resources", "/dataspaces/" + made.DataspaceID + "/resources", "/sets/" + set + "/resources"}
	return &shelf{service: service, listings: listings}, nil
}

// fill makes n resources in a set, while no service runs. It calls the use cases in this process instead of uploading, and
// leaves the bodies in memory: pages read records only, and a hundred thousand files brought to the disk one by one would take
// minutes.
func fill(ctx context.Context, data, set string, n int) (err error) {
	key, err := os.ReadFile(filepath.Join(data, e2e.KeyFile))
	if err != nil {
		return err
	}
	meta, err := bolt.Open(filepath.Join(data, "meta.db"), bolt.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, meta.Close()) }()
	repo := repository.New(meta, blobstest.NewMemory(), repository.Config{})
	defer repo.Close()
	caller, err := repo.Authenticate(ctx, strings.TrimSpace(string(key)))
	if err != nil {
		return err
	}
	body := smallBody(0)
	var numbers atomic.Int64
	return together(128, func() error {
		for i := numbers.Add(1); i <= int64(n); i = numbers.Add(1) {
			upload := repo.NewUpload(caller)
			if err := upload.Receive(ctx, bytes.NewReader(body)); err != nil {
				return err
			}
			if _, err := upload.Create(ctx, repository.UploadFields{SetID: &set, Filename: fmt.Sprintf("%07d.dat", i)}); err != nil {
				return err
			}
		}
		return nil
	})
}
