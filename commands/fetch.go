package commands

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"time"

	"labshelf/blobs"
	"labshelf/client"
)

const (
	// fetchTries is how often a file is asked for whose bytes turn out to be wrong.
	fetchTries = 3
	// worthKeeping is how many bytes of a file must have arrived that a later run shall go on with.
	worthKeeping = 1 << 20
	// fetchChunk is how many bytes are read at once.
	fetchChunk = 128 << 10
)

var (
	// errLocked says that another process has a file.
	errLocked = errors.New("another process has it")
	// errReplaced says that a resource has another file now, or none.
	errReplaced = errors.New("it was changed meanwhile")
	// errDisk is what this machine's disk has to say: it would say it of every other file, too.
	errDisk = errors.New("on this machine")
)

// wanted is what is known of a file that is to be here.
type wanted struct {
	id       string // of the resource
	bytes    int64
	digest   blobs.Digest
	modified time.Time
}

func wantedOf(r client.Resource) wanted { return wanted{r.ID, r.Bytes, r.SHA256, r.Modified} }

// fetcher downloads files into a folder.
type fetcher struct {
	client *client.Client
	root   *os.Root
	meter  *Meter
}

// fetch brings a file to path: whole, hashed, synced, with the time of its last modification. What an earlier run has left at path is
// the beginning of it. After an error as much stays there as is worth to be gone on with. Errors: errReplaced, errDisk,
// client.ErrDigest where wrong bytes arrive however often it is asked for, *client.Problem, and those of the connection.
func (f fetcher) fetch(ctx context.Context, w wanted, path string) error {
	file, err := f.open(path)
	if err != nil {
		return err
	}
	p := &partial{fetcher: f, file: file, wanted: w, hash: sha256.New()}
	err = p.complete(ctx)
	if err == nil {
		err = disk(file.Sync())
	}
	err = errors.Join(err, disk(unlock(file)))
	if err == nil {
		return disk(f.root.Chtimes(path, w.modified, w.modified))
	}
	f.meter.skipped(-p.at)
	if p.at < worthKeeping || errors.Is(err, errReplaced) || errors.Is(err, client.ErrDigest) {
		err = errors.Join(err, f.root.Remove(path))
	}
	return err
}

// disk makes an error of the file system an errDisk.
func disk(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errDisk, err)
}

// open opens the beginning of a file for this process alone.
func (f fetcher) open(path string) (*os.File, error) {
	file, err := f.root.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, disk(err)
	}
	err = lock(file)
	if err == nil { // until now, the process that had it may have given it its name
		err = sameFile(f.root, path, file)
	}
	if errors.Is(err, errLocked) {
		err = fmt.Errorf("%w: another labshelf is getting %s; let it end", err, path)
	}
	if err != nil {
		return nil, errors.Join(err, unlock(file))
	}
	return file, nil
}

func sameFile(root *os.Root, path string, file *os.File) error {
	opened, err := file.Stat()
	if err != nil {
		return disk(err)
	}
	there, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(opened, there):
		return errLocked
	case err != nil:
		return disk(err)
	}
	return nil
}

// partial is a file that is arriving.
type partial struct {
	fetcher
	wanted
	file *os.File
	hash hash.Hash
	at   int64 // bytes that are there and hashed
}

// complete fetches what is missing.
func (p *partial) complete(ctx context.Context) error {
	if err := p.rehash(ctx); err != nil {
		return err
	}
	for try := 0; ; try++ {
		if p.at == p.bytes {
			if blobs.Digest(p.hash.Sum(nil)) == p.digest {
				return nil
			}
			if try == fetchTries {
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

// rehash reads what an earlier run has left.
func (p *partial) rehash(ctx context.Context) error {
	info, err := p.file.Stat()
	if err != nil {
		return disk(err)
	}
	if info.Size() > p.bytes {
		return p.restart()
	}
	err = p.take(ctx, io.LimitReader(p.file, info.Size()), io.Discard, p.meter.compared)
	if ctx.Err() == nil {
		err = disk(err)
	}
	return err
}

// restart forgets what has arrived.
func (p *partial) restart() error {
	p.meter.skipped(-p.at)
	p.at = 0
	p.hash.Reset()
	_, err := p.file.Seek(0, io.SeekStart)
	return disk(errors.Join(err, p.file.Truncate(0)))
}

// rest asks for what is missing.
func (p *partial) rest(ctx context.Context) (err error) {
	body, err := p.client.Data(ctx, p.id, p.at, "")
	if err != nil {
		return lostFile(err)
	}
	defer func() { _ = body.Close() }() // only read from
	if body.Digest != p.digest || body.Total != p.bytes {
		return errReplaced
	}
	return lostFile(p.take(ctx, body, p.file, p.meter.moved))
}

// lostFile tells whether an error means that the file of the record that is known is gone.
func lostFile(err error) error {
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Code != "" {
		switch problem.Status {
		case 403, 404, 410, 412, 416:
			return fmt.Errorf("%w: %w", errReplaced, err)
		}
	}
	return err
}

// take reads from to its end, hashes it and writes it to to. It tells done of each piece.
func (p *partial) take(ctx context.Context, from io.Reader, to io.Writer, done func(bytes int64)) error {
	chunk := make([]byte, fetchChunk)
	for {
		n, err := from.Read(chunk)
		if _, err := to.Write(chunk[:n]); err != nil {
			return disk(err)
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

// digestOf reads a file.
func digestOf(ctx context.Context, root *os.Root, path string) (d blobs.Digest, err error) {
	file, err := root.Open(path)
	if err != nil {
		return d, err
	}
	defer func() { _ = file.Close() }() // only read from
	sum, chunk := sha256.New(), make([]byte, fetchChunk)
	for {
		n, err := file.Read(chunk)
		sum.Write(chunk[:n])
		switch {
		case err == io.EOF:
			return blobs.Digest(sum.Sum(nil)), nil
		case err != nil:
			return d, err
		case ctx.Err() != nil:
			return d, ctx.Err()
		}
	}
}

// onlyThis tells whether an error concerns the one file that was asked for, so that the others may still be had.
func onlyThis(err error) bool {
	var problem *client.Problem
	switch {
	case errors.Is(err, errDisk):
		return false
	case errors.Is(err, client.ErrDigest), errors.Is(err, errReplaced), errors.Is(err, errLocked):
		return true
	case errors.As(err, &problem) && problem.Code != "":
		return problem.Status != 401 && problem.Status != 429 && problem.Status != 503
	}
	return false
}
