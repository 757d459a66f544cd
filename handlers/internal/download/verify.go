package download

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"

	"labshelf/blobs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/slowclient"
)

// errContent is the error of a file whose bytes do not match the recorded digest.
var errContent = errors.New("the content does not have the recorded SHA-256")

// verified returns a reader of the content, and a function that releases it. It protects whole
// files up to the configured size. A small file is read and compared first, and a mismatch is an
// error. A larger file is compared while it is sent, and a mismatch cuts it off. Parts of a larger
// file cannot be verified.
func (s *Sender) verified(r *exchange.Request, c Content) (body io.ReadSeeker, release func(), err error) {
	if c.Verified || c.Bytes > s.verifyReads || r.Method != http.MethodGet {
		return c.File, func() {}, nil
	}
	if c.Bytes > slowclient.ChunkSize {
		return &verifiedFile{Content: c, hash: sha256.New()}, func() {}, nil
	}
	buffer := s.buffers.Get()
	whole := &memoryFile{bytes: buffer[:c.Bytes]}
	release = func() {
		if !whole.unsent {
			s.buffers.Put(buffer)
		}
	}
	if err = c.readWhole(whole.bytes); errors.Is(err, errContent) { // a byte may have changed on the way from the store
		if _, err = c.File.Seek(0, io.SeekStart); err == nil {
			err = c.readWhole(whole.bytes)
		}
	}
	if err != nil {
		return nil, release, err
	}
	whole.Reset(whole.bytes)
	return whole, release, nil
}

// readWhole reads the file from its start and compares the digest. It returns errContent on a
// mismatch.
func (c Content) readWhole(into []byte) error {
	switch _, err := io.ReadFull(c.File, into); {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	case sha256.Sum256(into) != c.Digest:
		return errContent
	}
	return nil
}

// memoryFile is a complete file in memory.
type memoryFile struct {
	bytes.Reader
	bytes  []byte
	unsent bool // the connection may still use the bytes
}

// verifiedFile hashes a file that is read sequentially from its start. If the digest is wrong, it
// withholds the last byte and cuts off the answer, so that no client accepts damaged bytes. Parts
// cannot be verified.
type verifiedFile struct {
	Content
	hash       hash.Hash
	at, hashed int64
}

func (f *verifiedFile) Seek(offset int64, whence int) (at int64, err error) {
	f.at, err = f.File.Seek(offset, whence)
	return f.at, err
}

func (f *verifiedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if f.at == f.hashed {
		f.hash.Write(p[:n])
		f.hashed += int64(n)
	}
	f.at += int64(n)
	if n > 0 && f.at == f.Bytes && f.hashed == f.at && blobs.Digest(f.hash.Sum(nil)) != f.Digest {
		return n - 1, errContent
	}
	return n, err
}
