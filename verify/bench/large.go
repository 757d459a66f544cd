package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"labshelf/blobs/directory"
)

const mib = 1 << 20

// large measures the upload and the download of one large file.
func (b *bench) large(ctx context.Context) ([]row, error) {
	begin := time.Now()
	digest := newLarge(b.body).digest(sha256.New())
	b.say("SHA-256 of the large body: %.0f MiB/s", float64(b.body)/mib/time.Since(begin).Seconds())
	in, err := b.largeIn(ctx, digest)
	if err != nil {
		return nil, err
	}
	out, err := b.largeOut(ctx, digest)
	return append(in, out...), err
}

// largeIn measures the speed of the upload, compared with its necessary steps, and its memory.
func (b *bench) largeIn(ctx context.Context, digest string) ([]row, error) {
	what := fmt.Sprintf("upload of %s with SHA-256", b.largeSize())
	slower := row{what: what, unit: "MiB/s", reference: "the slower of write + sync, and SHA-256", targets: []target{ratioAtLeast(0.6)}}
	inline := row{what: what, unit: "MiB/s", reference: "hash and write in line, sync", targets: []target{ratioAtLeast(1.15)}}
	peak := row{what: what + ", peak memory", unit: "MiB", reference: "idle", worst: true, targets: []target{differenceAtMost(24)}}
	for round := range b.rounds {
		b.say("%s, round %d", what, round+1)
		ours, err := b.uploadLarge(ctx, fmt.Sprintf("large-%d", round), digest)
		if err != nil {
			return nil, err
		}
		written, err := b.bareLarge(ctx, io.Discard)
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		newLarge(b.body).digest(sha256.New())
		hashed := b.speed(time.Since(begin))
		both, err := b.bareLarge(ctx, sha256.New())
		if err != nil {
			return nil, err
		}
		b.say("write + sync %.0f MiB/s, SHA-256 %.0f MiB/s", written, hashed)
		slower.add(ours.speed, min(written, hashed))
		inline.add(ours.speed, both)
		peak.add(ours.peak, ours.idle)
	}
	if !onLinux {
		b.say("only Linux reports the peak memory of another process: its row is skipped")
		return []row{slower, inline}, nil
	}
	return []row{slower, inline, peak}, nil
}

func (b *bench) largeSize() string { return fmt.Sprintf("%.3g GiB", float64(b.body)/(1<<30)) }

// speed returns the throughput in MiB/s if transferring the large body takes took.
func (b *bench) speed(took time.Duration) float64 { return float64(b.body) / mib / took.Seconds() }

// largeUpload is the result of one upload: the speed in MiB/s, and the resident memory of the
// service in MiB, before the upload and at its peak.
type largeUpload struct {
	speed, idle, peak float64
}

// uploadLarge sends the large body to a new service, and removes the service's data afterwards.
func (b *bench) uploadLarge(ctx context.Context, name, digest string) (u largeUpload, err error) {
	var open closers
	defer open.close(&err)
	open.later(func() error { return os.RemoveAll(filepath.Join(b.folder, name)) })
	service, err := b.start(ctx, &open, name)
	if err != nil {
		return u, err
	}
	w, err := dial(ctx, service.peer)
	if err != nil {
		return u, err
	}
	defer w.close()
	// Upload a small file first, so that the memory that every service needs after its first
	// request is not counted.
	if err := newUploader(w, service.peer, service.set, smallFile, b.number).upload(); err != nil {
		return u, err
	}
	if _, err := waitForFiles(ctx, service.data, 1); err != nil {
		return u, err
	}
	if onLinux {
		idle, failed := memoryOf(service.PID(), "VmRSS")
		if err := errors.Join(failed, resetPeak(service.PID())); err != nil {
			return u, err
		}
		u.idle = idle
	}
	if err := b.atRest(ctx); err != nil {
		return u, err
	}
	begin := time.Now()
	if _, err := uploadLarge(w, service.peer, service.set, newLarge(b.body), digest); err != nil {
		return u, err
	}
	u.speed = b.speed(time.Since(begin))
	if onLinux {
		u.peak, err = memoryOf(service.PID(), "VmHWM")
	}
	return u, err
}

// bareLarge writes the large body to a file and syncs the file. It gives each block to sum first.
// It returns the speed in MiB/s.
func (b *bench) bareLarge(ctx context.Context, sum io.Writer) (speed float64, err error) {
	if err := b.atRest(ctx); err != nil {
		return 0, err
	}
	var disk directory.OS
	path := filepath.Join(b.folder, "large")
	file, err := disk.Create(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	begin := time.Now()
	// The hash comes first, while the block is in the cache of the processor.
	err = newLarge(b.body).send(io.MultiWriter(sum, file))
	if err == nil {
		err = file.Sync()
	}
	speed = b.speed(time.Since(begin))
	return speed, errors.Join(err, file.Close())
}

// largeOut measures the cost of a download for the service, compared with nginx, which sends the
// same file from the same folder.
func (b *bench) largeOut(ctx context.Context, digest string) (rows []row, err error) {
	what := fmt.Sprintf("download of %s", b.largeSize())
	if !onLinux {
		b.say("only Linux reports the processor time of another process: %s is skipped", what)
		return nil, nil
	}
	var open closers
	defer open.close(&err)
	service, err := b.start(ctx, &open, "large-out")
	if err != nil {
		return nil, err
	}
	w, err := dial(ctx, service.peer)
	if err != nil {
		return nil, err
	}
	id, err := uploadLarge(w, service.peer, service.set, newLarge(b.body), digest)
	w.close()
	if err != nil {
		return nil, err
	}
	web, err := b.startNginx(ctx, &open, filepath.Join(service.data, "blobs"))
	if errors.Is(err, errNoNginx) {
		b.say("%v: %s is skipped", err, what)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	cost := row{what: what + ", processor time", unit: "ms/GiB", reference: "nginx", targets: []target{ratioAtMost(1.15)}}
	for round := range b.moreRounds {
		b.say("%s, round %d", what, round+1)
		ours, err := b.downloadLarge(ctx, service.peer, service.PID(), "/resources/"+id+"/data")
		if err != nil {
			return nil, err
		}
		theirs, err := b.downloadLarge(ctx, web.peer, web.pid, "/"+digest[:2]+"/"+digest)
		if err != nil {
			return nil, fmt.Errorf("nginx: %w", err)
		}
		cost.add(ours, theirs)
	}
	return []row{cost}, nil
}

// downloadLarge downloads the large file b.fetches times, compares it with the upload, and returns
// the processor time of the server in ms/GiB.
func (b *bench) downloadLarge(ctx context.Context, p peer, pid int, path string) (cost float64, err error) {
	w, err := dial(ctx, p)
	if err != nil {
		return 0, err
	}
	defer w.close()
	request := p.get(path)
	before, err := processorTime(pid)
	if err != nil {
		return 0, err
	}
	for range b.fetches {
		if _, err := w.conn.Write(request); err != nil {
			return 0, err
		}
		length, err := w.head(200)
		if err == nil && int64(length) != b.body {
			err = fmt.Errorf("got a body of %d bytes, want %d", length, b.body)
		}
		if err == nil {
			err = w.each(length, newLarge(b.body).check)
		}
		if err != nil {
			return 0, err
		}
	}
	after, err := processorTime(pid)
	return milliseconds(after-before) / (float64(b.body) / (1 << 30) * float64(b.fetches)), err
}
