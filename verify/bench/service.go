package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"labshelf/blobs"
	"labshelf/verify/e2e"
)

// subject is a labshelf under measurement: the real program, with one set in one dataspace.
type subject struct {
	*e2e.Service
	peer
	data           string
	dataspace, set string
}

// start runs the service with a new data directory of this name until open is closed.
func (b *bench) start(ctx context.Context, open *closers, name string, flags ...string) (*subject, error) {
	s := &subject{data: filepath.Join(b.folder, name)}
	if err := s.run(ctx, open, b.program, flags...); err != nil {
		return nil, err
	}
	var err error
	s.dataspace, s.set, err = s.MakeSet(ctx, "bench")
	return s, err
}

// run runs the service with its data directory until open is closed.
func (s *subject) run(ctx context.Context, open *closers, program string, flags ...string) (err error) {
	if s.Service, err = e2e.Start(ctx, program, s.data, flags...); err != nil {
		return err
	}
	open.later(s.Stop)
	s.peer = peerAt(s.Base(), s.Key())
	return nil
}

// counters are the numbers of files in a dataspace, as reported by the service.
type counters struct {
	ActiveFiles, DeletedFiles, OldVersions int
}

// counted returns the counters of a dataspace.
func (s *subject) counted(ctx context.Context, dataspace string) (c counters, err error) {
	err = s.Get(ctx, "/dataspaces/"+dataspace+"/usage", &c)
	return c, err
}

// holds returns an error unless a dataspace has the counters want.
func (s *subject) holds(ctx context.Context, dataspace string, want counters) error {
	got, err := s.counted(ctx, dataspace)
	if err == nil && got != want {
		err = fmt.Errorf("the service has the counters %+v, want %+v", got, want)
	}
	return err
}

// waitForFiles waits until each of n different bodies has its own file. The service may store them
// elsewhere first. It returns the elapsed time. Later disk activity does not come from the service.
func waitForFiles(ctx context.Context, data string, n int) (time.Duration, error) {
	begin := time.Now()
	for {
		files, err := countFiles(data)
		if err != nil || files == n {
			return time.Since(begin), err
		}
		if files > n || time.Since(begin) > flushLimit {
			return 0, fmt.Errorf("%s: %d bodies have files after %s, want %d", data, files, flushLimit, n)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// flushLimit is the maximum time that the service may take to write all bodies to files.
const flushLimit = 3 * time.Minute

// countFiles returns the number of bodies that have files.
func countFiles(data string) (files int, err error) {
	paths, err := filepath.Glob(filepath.Join(data, "blobs", "*", "*"))
	for _, path := range paths {
		if _, err := blobs.ParseDigest(filepath.Base(path)); err == nil {
			files++
		}
	}
	return files, err
}
