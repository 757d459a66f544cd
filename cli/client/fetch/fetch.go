// Package fetch downloads files to a folder so that an interrupted download can resume, and changes
// folders durably.
package fetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"labshelf/blobs"
	"labshelf/cli/meter"
	"labshelf/client"
)

const (
	// Tries bounds the requests for a file whose bytes do not match the digest.
	Tries = 3
	// worthKeeping is the least number of bytes for which a partial file is kept for the next run.
	worthKeeping = 1 << 20
	// fetchChunk is the size of a read, in bytes.
	fetchChunk = 128 << 10
)

var (
	// ErrLocked means that another process has locked the file.
	ErrLocked = errors.New("another process uses it")
	// ErrReplaced means that the resource has another file now, or no file.
	ErrReplaced = errors.New("the resource has changed during the download")
	// ErrDisk is an error of the local file system, which would affect other files, too.
	ErrDisk = errors.New("on this machine")
)

// File is the file of a resource, as its record describes it.
type File struct {
	ID       string // of the resource
	Bytes    int64
	Digest   blobs.Digest
	Modified time.Time
	Version  int64 // 0: the current one
}

// Open requests the file, beginning at the given byte.
func (f File) Open(ctx context.Context, c *client.Client, from int64) (*client.File, error) {
	if f.Version != 0 {
		return c.Versions.Data(ctx, f.ID, f.Version, from, "")
	}
	return c.Resources.Data(ctx, f.ID, from, "")
}

// FileOfVersion returns the file of one version of a resource.
func FileOfVersion(v client.Version) File {
	return File{v.ResourceID, v.Bytes, v.SHA256, v.Created.Time, v.Number}
}

// FileOf returns the file of a resource.
func FileOf(r client.Resource) File { return File{r.ID, r.Bytes, r.SHA256, r.Modified.Time, 0} }

// Fetcher downloads files into a folder.
type Fetcher struct {
	Client *client.Client
	Root   *os.Root
	Meter  *meter.Meter
}

// Fetch downloads a file to path. It returns nil when the file is complete, its digest is verified,
// it is on stable storage and has its modification time. It resumes a partial file at path. After
// an error a partial file stays if it is large enough to keep. Errors: ErrReplaced, ErrDisk,
// ErrLocked, client.ErrDigest after Tries attempts, *client.Problem, and errors of the connection.
func (f Fetcher) Fetch(ctx context.Context, w File, path string) error {
	file, err := f.OpenPartial(path)
	if err != nil {
		return err
	}
	p := &partial{Fetcher: f, file: file, File: w, hash: sha256.New()}
	err = p.complete(ctx)
	if err == nil {
		err = DiskError(file.Sync())
	}
	err = errors.Join(err, DiskError(Unlock(file)))
	if err == nil {
		return DiskError(f.Root.Chtimes(path, w.Modified, w.Modified))
	}
	f.Meter.Skipped(-p.at)
	if p.at < worthKeeping || errors.Is(err, ErrReplaced) || errors.Is(err, client.ErrDigest) {
		err = errors.Join(err, f.Root.Remove(path))
	}
	return err
}

// DiskError wraps an error of the file system as an ErrDisk.
func DiskError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrDisk, err)
}

// OpenPartial opens and locks a partial file, which it creates if necessary. The caller calls
// Unlock. Errors: ErrLocked, ErrDisk.
func (f Fetcher) OpenPartial(path string) (*os.File, error) {
	file, err := f.Root.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, DiskError(err)
	}
	err = Lock(file)
	if err == nil { // the process that held the lock before may have renamed the file
		err = sameFile(f.Root, path, file)
	}
	if errors.Is(err, ErrLocked) {
		err = fmt.Errorf("%w: another labshelf is getting %s; wait for it", err, path)
	}
	if err != nil {
		return nil, errors.Join(err, Unlock(file))
	}
	return file, nil
}

func sameFile(root *os.Root, path string, file *os.File) error {
	opened, err := file.Stat()
	if err != nil {
		return DiskError(err)
	}
	there, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(opened, there):
		return ErrLocked
	case err != nil:
		return DiskError(err)
	}
	return nil
}

// partial is a file that is being downloaded.
type partial struct {
	Fetcher
	File
	file *os.File
	hash hash.Hash
	at   int64 // bytes on disk and in hash
}

// complete downloads the missing bytes and verifies the digest.
func (p *partial) complete(ctx context.Context) error {
	if err := p.rehash(ctx); err != nil {
		return err
	}
	for try := 0; ; try++ {
		if p.at == p.Bytes {
			if blobs.Digest(p.hash.Sum(nil)) == p.Digest {
				return nil
			}
			if try == Tries {
				return fmt.Errorf("%w (tried %d times)", client.ErrDigest, try)
			}
			if err := p.restart(); err != nil {
				return err
			}
		}
		if err := p.rest(ctx); err != nil && !errors.Is(err, client.ErrDigest) {
			return err
		}
	}
}

// rehash hashes the bytes of an earlier run.
func (p *partial) rehash(ctx context.Context) error {
	info, err := p.file.Stat()
	if err != nil {
		return DiskError(err)
	}
	if info.Size() > p.Bytes {
		return p.restart()
	}
	err = p.take(ctx, io.LimitReader(p.file, info.Size()), io.Discard, p.Meter.Read)
	if ctx.Err() == nil {
		err = DiskError(err)
	}
	return err
}

// restart discards the downloaded bytes.
func (p *partial) restart() error {
	p.Meter.Skipped(-p.at)
	p.at = 0
	p.hash.Reset()
	_, err := p.file.Seek(0, io.SeekStart)
	return DiskError(errors.Join(err, p.file.Truncate(0)))
}

// rest requests the missing bytes once.
func (p *partial) rest(ctx context.Context) (err error) {
	body, err := p.Open(ctx, p.Client, p.at)
	if err != nil {
		return lostFile(err)
	}
	defer func() { _ = body.Close() }() // only read
	if body.Digest != p.Digest || body.Total != p.Bytes {
		return ErrReplaced
	}
	return lostFile(p.take(ctx, body, p.file, p.Meter.Moved))
}

// lostFile turns responses that say that the resource no longer has the file into ErrReplaced.
func lostFile(err error) error {
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Code != "" {
		switch problem.Status {
		case 403, 404, 410, 412, 416:
			return fmt.Errorf("%w: %w", ErrReplaced, err)
		}
	}
	return err
}

// take copies from to to until its end, hashes it, and calls done with the length of each read.
func (p *partial) take(ctx context.Context, from io.Reader, to io.Writer, done func(bytes int64)) error {
	chunk := make([]byte, fetchChunk)
	for {
		n, err := from.Read(chunk)
		if _, err := to.Write(chunk[:n]); err != nil {
			return DiskError(err)
		}
		p.hash.Write(chunk[:n])
		p.at += int64(n)
		done(int64(n))
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// Digest returns the digest of a file.
func Digest(ctx context.Context, root *os.Root, path string) (d blobs.Digest, err error) {
	file, err := root.Open(path)
	if err != nil {
		return d, err
	}
	defer func() { _ = file.Close() }() // only read
	p := partial{hash: sha256.New()}
	if err := p.take(ctx, file, io.Discard, func(int64) {}); err != nil {
		return d, err
	}
	return blobs.Digest(p.hash.Sum(nil)), nil
}

// ConcernsOneFile reports whether an error affects the requested file alone, so that the caller can
// continue with others.
func ConcernsOneFile(err error) bool {
	var problem *client.Problem
	switch {
	case errors.Is(err, ErrDisk):
		return false
	case errors.Is(err, client.ErrDigest), errors.Is(err, ErrReplaced), errors.Is(err, ErrLocked):
		return true
	case errors.As(err, &problem) && problem.Code != "":
		return problem.Status != 401 && problem.Status != 429 && problem.Status != 503
	}
	return false
}

// Each calls do with 0 to n-1, up to parallel at a time, and returns when all calls have returned.
// After an error it starts no more calls, cancels the context of the running ones, and returns the
// first error.
func Each(ctx context.Context, parallel, n int, do func(ctx context.Context, i int) error) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := 0; i < n && running.Err() == nil; i++ {
		group.Go(func() error {
			if running.Err() != nil { // it waited for another run to end
				return nil
			}
			return do(running, i)
		})
	}
	failed := group.Wait()
	return cmp.Or(failed, ctx.Err())
}

// PartialSuffix ends the name of a partial file.
const PartialSuffix = ".part"
