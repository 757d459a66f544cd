package directory

import (
	"crypto/sha256"
	"hash"
	"io"
	"sync"
	"sync/atomic"

	"labshelf/blobs"
)

// chunkSize is the number of bytes that are read, hashed and written at a time.
const chunkSize = 256 << 10

// A body uses at most 16 chunks of memory, 4 MiB. Three chunks are reserved for every body, to
// read, hash and write at the same time. All bodies share 128 more, 32 MiB: on a slow disk every
// body would use its 16.
const (
	chunksAhead    = 16
	chunksReserved = 3
	chunksShared   = 128
)

type chunk [chunkSize]byte

// chunkPool is the memory of all bodies.
type chunkPool struct {
	pool  sync.Pool    // of *chunk
	ahead atomic.Int64 // number of chunks in use beyond the reserved ones
}

// get returns a chunk for a body that has a number of chunks, or nil if the body must wait for one
// of its own.
func (c *chunkPool) get(has int) *chunk {
	if has >= chunksReserved && (has == chunksAhead || !c.share()) {
		return nil
	}
	return c.pool.Get().(*chunk)
}

func (c *chunkPool) share() bool {
	if c.ahead.Add(1) <= chunksShared {
		return true
	}
	c.ahead.Add(-1)
	return false
}

// put returns all chunks of a body.
func (c *chunkPool) put(all []*chunk) {
	for _, one := range all {
		c.pool.Put(one)
	}
	c.ahead.Add(-int64(max(0, len(all)-chunksReserved)))
}

// copier writes a body to w and computes its SHA-256, chunk by chunk. After the first chunk, it
// reads, hashes and writes in separate goroutines, so that a large body takes as long as the
// slowest of the three, not as long as all of them. A body of one chunk starts no goroutine.
type copier struct {
	w       io.Writer
	chunks  *chunkPool
	taken   []*chunk    // chunks from the pool, to be returned
	read    chan filled // nil: no goroutines run
	hashed  chan filled
	free    chan *chunk // written chunks
	written chan error  // the error that ended the writing; closed when all goroutines have ended
	hash    hash.Hash   // of the body so far; nil: empty
	digest  blobs.Digest
}

// filled is a chunk and how much of it belongs to the body.
type filled struct {
	*chunk
	size int
}

// newCopier returns a copier of a body to w. The hash is nil, or has hashed the beginning of the
// body; after close it has hashed the whole body. The caller closes the copier before it closes w.
func newCopier(w io.Writer, from *chunkPool, before hash.Hash) *copier {
	return &copier{w: w, chunks: from, hash: before}
}

// chunk returns memory for the next bytes of the body. It waits for the goroutines if they are far
// behind. With a slow client this is rare, so the body uses two or three chunks: there may be many
// slow clients.
func (c *copier) chunk() *chunk {
	select {
	case written := <-c.free:
		return written
	default:
	}
	fresh := c.chunks.get(len(c.taken))
	if fresh == nil {
		return <-c.free
	}
	c.taken = append(c.taken, fresh)
	return fresh
}

// add adds a chunk that chunk returned, filled with the next bytes of the body. The caller must not
// use it any more. The error comes from writing this chunk or an earlier one.
func (c *copier) add(next filled, last bool) error {
	if c.read == nil && last && c.hash == nil {
		c.digest = sha256.Sum256(next.chunk[:next.size])
		return writeFull(c.w, next.chunk[:next.size])
	}
	if c.read == nil {
		c.read, c.hashed = make(chan filled, chunksAhead), make(chan filled, chunksAhead)
		c.free, c.written = make(chan *chunk, chunksAhead), make(chan error, 1)
		if c.hash == nil {
			c.hash = sha256.New()
		}
		go c.sum()
		go c.write()
	}
	c.read <- next
	select {
	case err := <-c.written:
		return err
	default:
		return nil
	}
}

func (c *copier) sum() {
	for next := range c.read {
		c.hash.Write(next.chunk[:next.size]) // never fails
		c.hashed <- next
	}
	c.digest = blobs.Digest(c.hash.Sum(nil))
	close(c.hashed)
}

// write writes the hashed chunks, and stops after an error.
func (c *copier) write() {
	broken := false
	for next := range c.hashed {
		if !broken {
			if err := writeFull(c.w, next.chunk[:next.size]); err != nil {
				broken = true
				c.written <- err
			}
		}
		c.free <- next.chunk
	}
	close(c.written)
}

// close waits for the goroutines, and returns the chunks to the pool. It returns the digest of the
// added bytes, or a write error that add did not return. A second call returns the digest.
func (c *copier) close() (digest blobs.Digest, err error) {
	if c.read != nil {
		close(c.read)
		for failure := range c.written {
			err = failure
		}
		c.read = nil
	}
	c.chunks.put(c.taken)
	c.taken = nil
	return c.digest, err
}
