package blobs

import (
	"crypto/sha256"
	"sync"
)

// chunkSize is the number of bytes that are read, hashed and written at a time.
const chunkSize = 256 << 10

// chunksAhead is how many chunks of one body are in memory at most: one that is read or written, one that is hashed, one that
// waits in between. A fourth gained nothing.
const chunksAhead = 3

type chunk [chunkSize]byte

// hasher takes the SHA-256 of a body chunk by chunk. From the second chunk on that happens in a goroutine beside the one that
// reads and writes, so that a large body takes as long as the slower of the two and not as both together. A body of one chunk
// pays for no goroutine.
type hasher struct {
	pool   *sync.Pool  // of *chunk
	taken  []*chunk    // all that came from there, to be given back
	free   chan *chunk // hashed
	todo   chan filled // nil: there is no goroutine
	sum    chan Digest // sent when todo has been closed
	digest Digest
}

// filled is a chunk and how much of it belongs to the body.
type filled struct {
	*chunk
	size int
}

// newHasher returns a hasher of a body of which nothing has come. The caller closes it.
func newHasher(pool *sync.Pool) *hasher { return &hasher{pool: pool} }

// chunk returns room for the next part of the body. It waits for the goroutine if that is behind.
func (h *hasher) chunk() *chunk {
	if len(h.taken) == chunksAhead {
		return <-h.free
	}
	c := h.pool.Get().(*chunk)
	h.taken = append(h.taken, c)
	return c
}

// add takes the next part of the body, which lies in a chunk of chunk. It may be read until the following call of chunk.
func (h *hasher) add(part filled, last bool) {
	if h.todo == nil && last {
		h.digest = sha256.Sum256(part.chunk[:part.size])
		return
	}
	if h.todo == nil {
		h.free, h.todo, h.sum = make(chan *chunk, chunksAhead), make(chan filled, chunksAhead), make(chan Digest, 1)
		go h.run()
	}
	h.todo <- part
}

func (h *hasher) run() {
	hash := sha256.New()
	for part := range h.todo {
		hash.Write(part.chunk[:part.size]) // never fails
		h.free <- part.chunk
	}
	h.sum <- Digest(hash.Sum(nil))
}

// close ends the goroutine, gives the chunks back, and returns the digest of what was added. Called again it returns the same.
func (h *hasher) close() Digest {
	if h.todo != nil {
		close(h.todo)
		h.digest, h.todo = <-h.sum, nil
	}
	for _, c := range h.taken {
		h.pool.Put(c)
	}
	h.taken = nil
	return h.digest
}
