package tus

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/handlers/internal/body"
	"labshelf/repository/resumable"
)

// checksums are the algorithms of Upload-Checksum. The protocol requires SHA-1.
var checksums = map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New, "md5": md5.New}

// Chunk is the part of a file in one request.
type Chunk struct {
	resumable.Chunk
	body *chunkBody
}

// ReadChunk returns the chunk in the body of a request. Its Offset is not set.
func ReadChunk(w http.ResponseWriter, r *http.Request) (*Chunk, error) {
	if _, err := body.MediaType(r, chunkType); err != nil {
		return nil, err
	}
	verify, err := body.Verifier(r)
	if err != nil {
		return nil, err
	}
	expected, err := readDigest(r)
	if err != nil {
		return nil, err
	}
	from := &chunkBody{body: r.Body, control: http.NewResponseController(w)}
	chunk := &Chunk{resumable.Chunk{Body: from, Length: r.ContentLength, Expected: expected, Stop: from.stop, Verify: verify}, from}
	sent := r.Header.Values("Upload-Checksum")
	if len(sent) == 0 {
		return chunk, nil
	}
	algorithm, encoded, _ := strings.Cut(sent[0], " ")
	begin, known := checksums[algorithm]
	want, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || !known || len(sent) > 1 {
		return nil, InvalidHeader("Upload-Checksum", "Upload-Checksum must be sha1, sha256 or md5, a space, and the checksum in base64")
	}
	from.hash = begin()
	chunk.Verify = func() error {
		switch {
		case string(from.hash.Sum(nil)) != string(want):
			return &errs.Error{Kind: errs.ChecksumMismatch, Code: errs.CodeChecksum, Field: "Upload-Checksum",
				Message: "the chunk does not have the checksum that was announced; nothing of it was stored"}
		case verify != nil:
			return verify()
		}
		return nil
	}
	return chunk, nil
}

// readDigest returns the digest of the whole file, which a client may send with any chunk. The zero
// digest means that the client sent none.
func readDigest(r *http.Request) (digest blobs.Digest, err error) {
	sent := r.Header.Values(digestHeader)
	if len(sent) == 0 {
		return digest, nil
	}
	digest, err = blobs.ParseDigest(sent[0])
	if err != nil || len(sent) > 1 || digest == (blobs.Digest{}) {
		return digest, InvalidHeader(digestHeader, digestHeader+" must be 64 hexadecimal digits, not all zero")
	}
	return digest, nil
}

// chunkBody is the body of a request. Another goroutine can stop it. Its errors are for clients.
type chunkBody struct {
	body    io.Reader
	control *http.ResponseController
	hash    hash.Hash // of the bytes read so far; nil: no checksum is announced
	stopped atomic.Bool

	mu    sync.Mutex
	ended bool // stop has no effect any more
}

// errStopped is the error of a request that another request for the same upload has stopped.
var errStopped error = &errs.Error{Kind: errs.Locked, Code: errs.CodeLocked, Message: "another request continues this upload"}

func (b *chunkBody) Read(p []byte) (int, error) {
	if b.stopped.Load() {
		return 0, errStopped
	}
	n, err := b.body.Read(p)
	if b.hash != nil {
		b.hash.Write(p[:n]) // never fails
	}
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case b.stopped.Load():
		return n, errStopped
	}
	return n, body.Error(err)
}

// stop ends a Read that waits for the client. A Read that has just begun may miss the signal, so
// the caller must repeat stop until the Read ends.
func (b *chunkBody) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended { // the connection may already serve another request
		return
	}
	b.stopped.Store(true)
	_ = b.control.SetReadDeadline(time.Now()) // without deadlines, the next Read returns the error
}

// End disables stop, and reports whether the chunk was stopped before.
func (c *Chunk) End() (stopped bool) {
	b := c.body
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	return b.stopped.Load()
}
