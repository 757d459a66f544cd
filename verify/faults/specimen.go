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
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/verify/e2e"
)

// specimen is a small repository, stopped, of which everything is known.
type specimen struct {
	program, data string
	metadata      []byte            // meta.db, as it was whole
	watermark     []byte            // blobs/watermark, as it was then
	raw           string            // digest of all keys and values in it
	pages         int               // of it that are in use; the file is longer
	answers       map[string]answer // what the service said while it was whole, by path
	urls          []string          // the same paths, in the order in which they were found
	files         []record          // active resources that are not empty
	owners        map[string][]string
}

// specimenSteps is how many requests each writer makes it of.
const specimenSteps = 40

// newSpecimen makes a repository of everything that writers do, and reads it in full.
func newSpecimen(ctx context.Context, t *trial) (*specimen, error) {
	program, err := t.build(ctx)
	if err != nil {
		return nil, err
	}
	s := &specimen{program: program, data: filepath.Join(t.dir, "data"), answers: map[string]answer{}, owners: map[string][]string{}}
	w, err := newWorld(ctx, program, s.data, t.random(0))
	if err != nil {
		return nil, err
	}
	for range specimenSteps {
		for _, writer := range w.writers {
			if err := writer.step(ctx); err != nil {
				return nil, errors.Join(err, w.stop())
			}
		}
	}
	if err := errors.Join(s.read(ctx, w.caller), s.filed(ctx), w.stop()); err != nil {
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

// path is that of the metadata file.
func (s *specimen) path() string { return filepath.Join(s.data, "meta.db") }

// blob is the path of a blob.
func (s *specimen) blob(digest string) string {
	return filepath.Join(s.data, "blobs", digest[:2], digest)
}

// filedLimit is how long it may take until all that is held has become files.
const filedLimit = 20 * time.Second

// filed waits until all bodies are files, to be damaged.
func (s *specimen) filed(ctx context.Context) error {
	deadline := time.Now().Add(filedLimit)
	for digest := range s.owners {
		for {
			if _, err := os.Stat(s.blob(digest)); err == nil {
				break
			}
			if time.Now().After(deadline) || ctx.Err() != nil {
				return errors.Join(fmt.Errorf("the blob %s has not come", digest), ctx.Err())
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}

// read fetches all pages, records and files.
func (s *specimen) read(ctx context.Context, c *caller) error {
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
		var p page
		if json.Unmarshal(a.body, &p) != nil || a.status != http.StatusOK {
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
		return fmt.Errorf("the specimen has only %d files", len(s.files))
	}
	return nil
}

// follow returns what there is to fetch about an object of a listing.
func (s *specimen) follow(r record) []string {
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
	if r.State == "active" && r.Bytes > 0 && !slicesHas(s.files, r.ID) {
		s.files = append(s.files, r)
	}
	if owners := s.owners[r.SHA256]; !strings.Contains(strings.Join(owners, " "), r.ID) {
		s.owners[r.SHA256] = append(owners, r.ID)
	}
	return []string{path, path + "/data"}
}

func slicesHas(all []record, id string) bool {
	for _, r := range all {
		if r.ID == id {
			return true
		}
	}
	return false
}

// pathOf cuts an address of the service down to what follows its base.
func pathOf(url string) string {
	_, path, _ := strings.Cut(url, "/v1/")
	return "/" + path
}

// fetch gets an answer without what differs from one start of the service to the next.
func (s *specimen) fetch(ctx context.Context, c *caller, url string) (answer, error) {
	a, err := c.call(ctx, http.MethodGet, url, nil)
	a.body = bytes.ReplaceAll(a.body, []byte(strings.TrimSuffix(c.base, "/v1")), nil)
	return a, err
}

// serve starts the service over the specimen. A refusal to start is no error, but an outcome.
func (s *specimen) serve(ctx context.Context, flags ...string) (service *e2e.Service, c *caller, o outcome, err error) {
	service, err = e2e.Start(ctx, s.program, s.data, flags...)
	if err == nil {
		c, err = newCaller(service.Base(), s.data)
		return service, c, o, err
	}
	// It ended at once. Once more, to see how.
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	o, again := labshelf(bounded, s.program, append([]string{"serve", "--data", s.data, "--listen", "127.0.0.1:0"}, flags...)...)
	if again != nil {
		return nil, nil, o, fmt.Errorf("%w; and once more: %w", err, again)
	}
	return nil, nil, o, nil
}

// restore makes the metadata whole again, and puts back what the files say of how far they had come: the service has written on.
func (s *specimen) restore() error {
	err := os.Remove(s.watermarkPath() + ".ahead")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.WriteFile(s.watermarkPath(), s.watermark, 0o600), os.WriteFile(s.path(), s.metadata, 0o600))
}

func (s *specimen) watermarkPath() string { return filepath.Join(s.data, "blobs", "watermark") }

// rawDump returns a digest of all keys and values in a metadata file, and how many pages it has in use.
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

// pageSize is that of the metadata file.
const pageSize = 4096
