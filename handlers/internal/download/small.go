package download

import (
	"bytes"
	"io"
	"net/http"

	"labshelf/blobs"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/slowclient"
)

// small is a complete small file in a buffer. The zero value is no file.
type small struct {
	buffer *[slowclient.ChunkSize]byte
	bytes  []byte // of the buffer
	unsent bool   // the connection may still use the buffer
}

// readSmall reads a verified file that fits into one chunk, so that damage is an error instead of a
// cut-off answer, and so that parts of the file are verified, too. It reads no other file.
func (s *Sender) readSmall(r *exchange.Request, c Content) (whole small, err error) {
	verified, is := c.File.(*blobs.Verified)
	if !is || c.Bytes > slowclient.ChunkSize || r.Method != http.MethodGet {
		return whole, nil
	}
	whole.buffer = s.buffers.Get()
	whole.bytes = whole.buffer[:c.Bytes]
	return whole, verified.ReadWhole(whole.bytes)
}

// release returns the buffer to the pool, unless the connection may still use it.
func (s *Sender) release(whole *small) {
	if whole.buffer != nil && !whole.unsent {
		s.buffers.Put(whole.buffer)
	}
}

// orFile returns a reader of the small file, or else the opened file.
func (f *small) orFile(file io.ReadSeeker) io.ReadSeeker {
	if f.buffer != nil {
		return bytes.NewReader(f.bytes)
	}
	return file
}
