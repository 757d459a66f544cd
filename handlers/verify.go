package handlers

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"

	"labshelf/blobs"
)

// errContent is a file whose bytes are not those that were put in.
var errContent = errors.New("the content does not have the recorded SHA-256")

// verifying returns what the content is read from, and the function that ends the reading. Up to the size of the configuration wrong
// bytes of a whole file never come to a clean end: a small file is read and compared at once, which returns an error if it is not
// what was put in, a larger one while it is sent. Of a part of a larger file nothing can be said.
func (a *api) verifying(r *request, c content) (body io.ReadSeeker, release func(), err error) {
	if c.sealed || c.bytes > a.config.VerifyReads || r.Method != http.MethodGet {
		return c.file, func() {}, nil
	}
	if c.bytes > chunk {
		return &verifiedFile{content: c, hash: sha256.New()}, func() {}, nil
	}
	buffer := a.buffers.Get().(*[chunk]byte)
	whole := &wholeFile{bytes: buffer[:c.bytes]}
	release = func() {
		if !whole.unsent {
			a.buffers.Put(buffer)
		}
	}
	switch _, err := io.ReadFull(c.file, whole.bytes); {
	case err == io.EOF:
		return nil, release, io.ErrUnexpectedEOF
	case err != nil:
		return nil, release, err
	case sha256.Sum256(whole.bytes) != c.digest:
		return nil, release, errContent
	}
	whole.Reset(whole.bytes)
	return whole, release, nil
}

// wholeFile is a file in memory.
type wholeFile struct {
	bytes.Reader
	bytes  []byte
	unsent bool // the connection may still have them
}

// verifiedFile hashes a file while it is read from start to end, in one go, and does not give out its last byte if the sum is
// wrong: the answer is cut off, so that nobody takes damaged bytes for the file. Of parts nothing can be said.
type verifiedFile struct {
	content
	hash       hash.Hash
	at, hashed int64
}

func (f *verifiedFile) Seek(offset int64, whence int) (int64, error) {
	at, err := f.file.Seek(offset, whence)
	f.at = at
	return at, err
}

func (f *verifiedFile) Read(p []byte) (int, error) {
	n, err := f.file.Read(p)
	if f.at == f.hashed {
		f.hash.Write(p[:n])
		f.hashed += int64(n)
	}
	f.at += int64(n)
	if n > 0 && f.at == f.bytes && f.hashed == f.at && blobs.Digest(f.hash.Sum(nil)) != f.digest {
		return n - 1, errContent
	}
	return n, err
}
