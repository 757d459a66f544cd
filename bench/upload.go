package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/e2e"
)

// smallFile is the size of the files of which many are uploaded.
const smallFile = 4 << 10

// smallBody returns the body of a file that is unlike every other with another number.
func smallBody(n uint64) []byte {
	body := make([]byte, smallFile)
	var seed [32]byte
	binary.BigEndian.PutUint64(seed[:], n)
	_, _ = rand.NewChaCha8(seed).Read(body) // never fails
	return body
}

// upload measures how many small files per second get in, beside what the disk does with files and commits alone.
func (b *bench) upload(ctx context.Context) (rows []row, err error) {
	service, set, err := b.start(ctx, "upload")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, service.Stop()) }()
	bare, err := openBareDisk(filepath.Join(b.folder, "bare"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()

	var numbers atomic.Uint64
	upload := func() error {
		n := numbers.Add(1)
		file := e2e.File{SetID: set, Filename: fmt.Sprintf("%d.dat", n), Body: bytes.NewReader(smallBody(n)), Size: smallFile}
		_, err := service.Upload(ctx, http.MethodPost, "/resources", file)
		return err
	}
	write := func() error { return bare.put(smallBody(numbers.Add(1))) }
	for _, clients := range []int{1, 16} {
		rows = append(rows, row{what: fmt.Sprintf("uploads of 4 KiB, clients: %d", clients), unit: "1/s", beside: "bare disk"})
	}
	for round := range b.rounds {
		for i, clients := range []int{1, 16} {
			b.say("upload, round %d, clients: %d", round+1, clients)
			ours, failed := rate(clients, b.load, upload)
			theirs, bareFailed := rate(clients, b.load, write)
			if err := errors.Join(failed, bareFailed, ctx.Err()); err != nil {
				return nil, err
			}
			rows[i].ours, rows[i].theirs = append(rows[i].ours, ours), append(rows[i].theirs, theirs)
		}
	}
	return rows, nil
}

// start runs the service over a new data directory with this name, with one set in one dataspace.
func (b *bench) start(ctx context.Context, name string) (_ *e2e.Service, set string, err error) {
	service, err := e2e.Start(ctx, b.program, filepath.Join(b.folder, name))
	if err != nil {
		return nil, "", err
	}
	dataspace, err := service.Make(ctx, "/dataspaces", map[string]string{"name": "bench"})
	if err == nil {
		set, err = service.Make(ctx, "/sets", map[string]string{"name": "bench", "dataspaceId": dataspace})
	}
	if err != nil {
		service.Kill()
		return nil, "", err
	}
	return service, set, nil
}

// rate does the work in so many goroutines at once, again and again, and returns how often per second it was done. Each begins
// with one that does not count: it opens the connection.
func rate(workers int, load time.Duration, work func() error) (perSecond float64, err error) {
	if err := together(workers, work); err != nil {
		return 0, err
	}
	var done atomic.Int64
	begin := time.Now()
	err = together(workers, func() error {
		for time.Since(begin) < load {
			if err := work(); err != nil {
				return err
			}
			done.Add(1)
		}
		return nil
	})
	return float64(done.Load()) / time.Since(begin).Seconds(), err
}

// together runs fn in so many goroutines and waits for all.
func together(workers int, fn func() error) error {
	var all sync.WaitGroup
	failed := make([]error, workers)
	for i := range failed {
		all.Go(func() { failed[i] = fn() })
	}
	all.Wait()
	return errors.Join(failed...)
}
