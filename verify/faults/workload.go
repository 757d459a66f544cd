package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/formats/audit"
	"labshelf/verify/e2e"
)

// workload is one repository with its clients.
type workload struct {
	program, data string
	flags         []string // of labshelf serve
	service       *e2e.Service
	client        *e2e.Client
	writers       []*writer
	ended         atomic.Bool
	driven        atomic.Int64
	visited       atomic.Int64
	ending        chan struct{} // closed when ended is set
	readers       int
	harvesters    []*harvester
	stamps        stamps
	purged        bool        // purges run continuously
	logged        audit.State // the state of the audit log at the last stop of the service
	backups       string      // a folder for continuous backups; "": no backups
}

// Numbers of writers and readers of a workload.
const (
	writerCount = 8
	readerCount = 4
)

// newWorkload creates a repository in an empty or missing data directory, with a dataspace for each
// writer. It leaves the service running.
func newWorkload(ctx context.Context, program, data string, random *rand.Rand, flags ...string) (*workload, error) {
	w := &workload{
		program: program, data: data, flags: append([]string{"--anonymous-per-minute", "0"}, flags...), // all visitors have the same address
		readers: readerCount - 1, harvesters: []*harvester{newHarvester(100, nil)},
	}
	if _, err := w.start(ctx); err != nil {
		return nil, err
	}
	if err := w.addWriters(ctx, writerCount, random); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

// addWriters adds writers, each with a dataspace, until there are count writers.
func (w *workload) addWriters(ctx context.Context, count int, random *rand.Rand) error {
	for n := len(w.writers); n < count; n++ {
		var space record
		if err := w.client.Call(ctx, http.MethodPost, "/dataspaces", map[string]string{"name": fmt.Sprintf("space-%d", n)}, &space); err != nil {
			return err
		}
		w.writers = append(w.writers, &writer{
			Client: w.client, n: n, space: space.ID, ended: &w.ended, driven: &w.driven, visited: &w.visited, observe: w.stamps.add,
			random: rand.New(rand.NewPCG(random.Uint64(), random.Uint64())),
		})
	}
	return nil
}

// answered returns the number of acknowledged changes.
func (w *workload) answered() (n int64) {
	for _, writer := range w.writers {
		n += writer.answered
	}
	return n
}

// start starts the service and returns the time until its first answer.
func (w *workload) start(ctx context.Context) (time.Duration, error) {
	begun := time.Now()
	service, err := e2e.Start(ctx, w.program, w.data, w.flags...)
	if err != nil {
		return 0, violated(nil, "the service does not start: %v", err)
	}
	w.service = service
	w.connect(service.Client)
	w.ended.Store(false)
	err = w.client.Get(ctx, "/status", nil)
	return time.Since(begun), err
}

// connect makes all clients of the workload use c.
func (w *workload) connect(c *e2e.Client) {
	w.client = c
	for _, writer := range w.writers {
		writer.Client = c
	}
}

func (w *workload) stop() error { return w.service.Stop() }

// runUntil runs all clients until crash has ended the service. It calls crash after the given time.
func (w *workload) runUntil(ctx context.Context, t *trial, after time.Duration, crash func() error) error {
	var workers sync.WaitGroup
	failed := make(chan error, 64)
	work := func(fn func(context.Context) error) {
		workers.Go(func() {
			if err := fn(ctx); err != nil {
				failed <- err
			}
		})
	}
	before, driven, visited := w.answered(), w.driven.Load(), w.visited.Load()
	w.ending = make(chan struct{})
	for _, writer := range w.writers {
		work(writer.work)
	}
	for i := range w.readers {
		work(func(ctx context.Context) error {
			return w.read(ctx, rand.New(rand.NewPCG(t.seed, uint64(before)+uint64(i))))
		})
	}
	for _, h := range w.harvesters {
		work(func(ctx context.Context) error { return h.run(ctx, w) })
	}
	if w.purged {
		work(w.purgeOn)
	}
	if w.backups != "" {
		work(w.backUpOn)
	}
	var err error
	select {
	case err = <-failed:
	case <-time.After(after):
	case <-ctx.Done():
		err = ctx.Err()
	}
	w.ended.Store(true)
	close(w.ending)
	err = errors.Join(err, crash())
	workers.Wait()
	w.client.CloseIdle()
	close(failed)
	for other := range failed {
		err = errors.Join(err, other)
	}
	t.add("acknowledged", w.answered()-before)
	if driven = w.driven.Load() - driven; driven > 0 {
		t.add("through the drive", driven)
	}
	if visited = w.visited.Load() - visited; visited > 0 {
		t.add("through links", visited)
	}
	return err
}

// read fetches random files. Their content must match the digest in the answer.
func (w *workload) read(ctx context.Context, random *rand.Rand) error {
	for !w.ended.Load() {
		var p e2e.Page
		err := w.client.Get(ctx, fmt.Sprintf("/resources?order=newest&limit=%d", 1+random.IntN(20)), &p)
		for i := 0; i < len(p.Data) && err == nil; i++ {
			err = w.readOne(ctx, p.Data[i])
		}
		switch {
		case err == nil:
		case w.ended.Load():
			return nil
		default:
			return fmt.Errorf("reader: %w", err)
		}
	}
	return nil
}

func (w *workload) readOne(ctx context.Context, r record) error {
	a, err := w.client.SendJSON(ctx, http.MethodGet, r.DataURL, nil)
	if err != nil {
		return err
	}
	switch a.Status {
	case http.StatusOK:
		if tag := fmt.Sprintf(`"sha256-%s"`, digestOf(a.Body)); tag != a.Header.Get("ETag") {
			return violated(nil, "%s has the tag %s, but content with the tag %s", r.DataURL, a.Header.Get("ETag"), tag)
		}
		return nil
	case http.StatusGone:
		return nil
	}
	return violated(nil, "%s: %w", r.DataURL, a.Problem())
}

// verify checks, without concurrent writes, that all acknowledged changes are present: I1, I4, I5
// and I9.
func (w *workload) verify(ctx context.Context) error {
	if err := w.finishCascades(ctx); err != nil {
		return err
	}
	for _, writer := range w.writers {
		if err := writer.resume(ctx); err != nil { // this may create a resource
			return err
		}
	}
	s, err := readListings(ctx, w.client)
	if err != nil {
		return err
	}
	all := make(map[string]record, len(s.byID))
	for id, r := range s.byID {
		all[id] = r
	}
	for _, writer := range w.writers {
		for _, part := range []func() error{
			func() error { return writer.settle(ctx, s) },
			func() error { return writer.verify(ctx, s) },
			func() error { return writer.verifyCompleted(ctx) },
			func() error { return writer.verifyKeys(ctx) },
			func() error { return writer.verifyLinks(ctx) },
		} {
			if err := part(); err != nil {
				return err
			}
		}
	}
	for _, r := range s.byID {
		return violated(nil, "no writer created %+v", r)
	}
	for _, h := range w.harvesters {
		if err := h.verify(ctx, w, all); err != nil {
			return err
		}
	}
	return nil
}

// finishCascades waits for the cascade of an unanswered deletion or restoration of a set. The same
// request, sent again, returns when the cascade has ended.
func (w *workload) finishCascades(ctx context.Context) error {
	for _, writer := range w.writers {
		if writer.pending == nil || writer.pending.effect == nil {
			continue
		}
		var now record
		path := writer.pending.on.path()
		if err := w.client.Get(ctx, path, &now); err != nil {
			return violated(writer.pending.on, "LOST: %v", err)
		}
		method := http.MethodDelete
		if now.State == "active" {
			method, path = http.MethodPost, path+"/restore"
		}
		if err := w.client.Call(ctx, method, path, nil, nil); err != nil {
			return violated(writer.pending.on, "%v", err)
		}
	}
	return nil
}

// verifyModes checks that no other user of the system can read the data (I12).
func verifyModes(data string) error {
	data, err := filepath.EvalSymlinks(data)
	if err != nil {
		return err
	}
	return filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			return violated(nil, "%s has the mode %v", path, info.Mode())
		}
		return nil
	})
}

// checkStopped checks all invariants in the data directory of a stopped service.
func (w *workload) checkStopped(ctx context.Context) error {
	if err := verifyModes(w.data); err != nil {
		return err
	}
	if err := clean(ctx, w.program, w.data); err != nil {
		return err
	}
	return w.verifyLog(ctx)
}

// nonJSONLines returns the lines of the service's log that are not JSON, such as stack traces.
func nonJSONLines(log string) (string, error) {
	text, err := os.ReadFile(log)
	if err != nil {
		return "", err
	}
	var odd bytes.Buffer
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 && !json.Valid(line) {
			odd.Write(append(line, '\n'))
		}
	}
	return odd.String(), nil
}
