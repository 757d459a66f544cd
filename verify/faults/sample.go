package faults

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/verify/e2e"
)

// sample is a small repository of a stopped service, with all answers of the service.
type sample struct {
	program, data string
	metadata      []byte                // meta.db, undamaged
	watermark     []byte                // blobs/watermark, undamaged
	raw           string                // digest of all keys and values in metadata
	pages         int                   // used pages of metadata; the file is longer
	answers       map[string]e2e.Answer // answers of the service before any damage, by path
	urls          []string              // the keys of answers, in the order in which they were found
	files         []record              // non-empty active resources
	owners        map[string][]string
}

// sampleSteps is the number of requests of each writer.
const sampleSteps = 40

// newSample creates a repository with every kind of change, and reads all of it.
func newSample(ctx context.Context, t *trial) (*sample, error) {
	program, err := t.build(ctx)
	if err != nil {
		return nil, err
	}
	s := &sample{program: program, data: filepath.Join(t.dir, "data"), answers: map[string]e2e.Answer{}, owners: map[string][]string{}}
	w, err := newWorkload(ctx, program, s.data, t.random(0))
	if err != nil {
		return nil, err
	}
	for range sampleSteps {
		for _, writer := range w.writers {
			if err := writer.step(ctx); err != nil {
				return nil, errors.Join(err, w.stop())
			}
		}
	}
	if err := errors.Join(s.read(ctx, w.client), s.waitForBlobs(ctx), w.stop()); err != nil {
		return nil, err
	}
	if s.metadata, err = os.ReadFile(s.path()); err != nil {
		return nil, err
	}
	if s.watermark, err = os.ReadFile(s.watermarkPath()); err != nil {
		return nil, err
	}
	if s.raw, s.pages, err = rawDump(s.path()); err != nil {
		return nil, err
	}
	return s, clean(ctx, program, s.data)
}

// path returns the path of the metadata file.
func (s *sample) path() string { return filepath.Join(s.data, "meta.db") }

// blob returns the path of a blob.
func (s *sample) blob(digest string) string {
	return filepath.Join(s.data, "blobs", digest[:2], digest)
}

// blobLimit is the maximum time for flushing the inline bodies.
const blobLimit = 20 * time.Second

// waitForBlobs waits until all bodies have files, so that they can be damaged. It polls, because
// the service does not report single flushes.
func (s *sample) waitForBlobs(ctx context.Context) error {
	deadline := time.Now().Add(blobLimit)
	for digest := range s.owners {
		for {
			if _, err := os.Stat(s.blob(digest)); err == nil {
				break
			}
			if time.Now().After(deadline) || ctx.Err() != nil {
				return errors.Join(fmt.Errorf("the blob %s does not exist", digest), ctx.Err())
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

// read fetches all pages, records and files.
func (s *sample) read(ctx context.Context, c *e2e.Client) error {
	queue := []string{
		"/dataspaces?state=all&limit=3", "/sets?state=all&limit=7", "/resources?state=all&limit=20", "/resources?order=newest",
		"/users", "/privileges?limit=3", "/usage",
	}
	for len(queue) > 0 {
		url := queue[0]
		queue = queue[1:]
		if _, known := s.answers[url]; known {
			continue
		}
		a, err := s.fetch(ctx, c, url)
		if err != nil {
			return err
		}
		s.answers[url], s.urls = a, append(s.urls, url)
		var p e2e.Page
		if json.Unmarshal(a.Body, &p) != nil || a.Status != http.StatusOK {
			continue // a file
		}
		if p.NextPage != "" {
			queue = append(queue, pathOf(p.NextPage))
		}
		for _, r := range p.Data {
			queue = append(queue, s.follow(r)...)
		}
	}
	if len(s.files) < 10 {
		return fmt.Errorf("the sample has only %d files", len(s.files))
	}
	return nil
}

// follow returns the paths for an object in a listing.
func (s *sample) follow(r record) []string {
	path := pathOf(r.URL)
	switch {
	case strings.HasPrefix(path, "/sets/"):
		return []string{path, path + "/resources?order=name&state=all"}
	case strings.HasPrefix(path, "/dataspaces/"):
		return []string{path, path + "/usage", path + "/sets"}
	case !strings.HasPrefix(path, "/resources/"):
		return []string{path}
	}
	if _, known := s.answers[path]; known || r.SetID == "" {
		return nil
	}
	if r.State == "active" && r.Bytes > 0 && !slices.ContainsFunc(s.files, func(f record) bool { return f.ID == r.ID }) {
		s.files = append(s.files, r)
	}
	if owners := s.owners[r.SHA256]; !slices.Contains(owners, r.ID) {
		s.owners[r.SHA256] = append(owners, r.ID)
	}
	return []string{path, path + "/data"}
}

// pathOf returns the path of a URL of the service after its base.
func pathOf(url string) string {
	_, path, _ := strings.Cut(url, "/v1/")
	return "/" + path
}

// fetch returns an answer without the service's address, which changes with each start.
func (s *sample) fetch(ctx context.Context, c *e2e.Client, url string) (e2e.Answer, error) {
	a, err := c.SendJSON(ctx, http.MethodGet, url, nil)
	a.Body = bytes.ReplaceAll(a.Body, []byte(strings.TrimSuffix(c.Base(), "/v1")), nil)
	return a, err
}

// serve starts the service with the sample. A refusal to start is an outcome, not an error.
func (s *sample) serve(ctx context.Context, flags ...string) (service *e2e.Service, o e2e.Outcome, err error) {
	service, err = e2e.Start(ctx, s.program, s.data, flags...)
	if err == nil {
		return service, o, nil
	}
	// The service exited immediately. Run it again to get its outcome.
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	o, again := e2e.Run(bounded, s.program, append([]string{"serve", "--data", s.data, "--listen", "127.0.0.1:0"}, flags...)...)
	if again != nil {
		return nil, o, fmt.Errorf("%w; second start: %w", err, again)
	}
	return nil, o, nil
}

// restore reverts the damage, and the changes of the service to the watermark.
func (s *sample) restore() error {
	err := os.Remove(s.watermarkPath() + ".ahead")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.WriteFile(s.watermarkPath(), s.watermark, 0o600), os.WriteFile(s.path(), s.metadata, 0o600))
}

func (s *sample) watermarkPath() string { return filepath.Join(s.data, "blobs", "watermark") }

// rawDump returns a digest of all keys and values in a metadata file, and the number of used pages.
func rawDump(path string) (sum string, pages int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("reading %s: %v", path, p)
		}
	}()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second})
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	hash := sha256.New()
	err = db.View(func(tx *bbolt.Tx) error {
		pages = int(tx.Size()) / pageSize
		return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			_, _ = fmt.Fprintf(hash, "bucket %q\n", name)
			return bucket.ForEach(func(key, value []byte) error {
				_, err := fmt.Fprintf(hash, "%x %x\n", key, value)
				return err
			})
		})
	})
	return hex.EncodeToString(hash.Sum(nil)), pages, err
}

// pageSize is the page size of the metadata file.
const pageSize = 4096
