package repository

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"labshelf/blobs"
	"labshelf/metadata"
)

// A small body does not become a file while its client waits: a file costs three syncs beside that of the metadata. Its bytes are
// committed with its record, by one sync that it shares with others, and a file is made of them afterwards (mover.go). That made
// 2.0 to 3.3 times as many uploads of 4 KiB with one client, 5 to 10 times with 16; and still 1.2 and 1.9 times at 256 KiB, but
// from there on the longest ones took twice the time.

// holdAtMost is how many bytes the metadata store holds, about; what comes then becomes a file as large bodies do.
const holdAtMost = 256 << 20

// holdMemory is how many bytes of memory all uploads together take for bodies that are coming in and may be held.
const holdMemory = 32 << 20

// holder receives the bodies that may be held.
type holder struct {
	upTo    int64        // bytes of the longest one; 0: none is held
	bytes   atomic.Int64 // held, as of the last upload, or look of the mover
	lent    atomic.Int64 // bytes of buffers
	buffers sync.Pool    // of *[]byte, each one byte longer than upTo
	busy    traffic
}

func newHolder(c Config) *holder {
	h := &holder{upTo: c.HoldUpTo, busy: traffic{begun: time.Now()}}
	if c.MaxUpload > 0 {
		h.upTo = min(h.upTo, c.MaxUpload)
	}
	h.buffers.New = func() any { return new(make([]byte, h.upTo+1)) }
	return h
}

// lend returns a buffer for a body that may be held, nil if it may not.
func (h *holder) lend() *[]byte {
	size := h.upTo + 1
	if h.upTo <= 0 || h.bytes.Load()+h.upTo > holdAtMost {
		return nil
	}
	if h.lent.Add(size) > holdMemory {
		h.lent.Add(-size)
		return nil
	}
	return h.buffers.Get().(*[]byte)
}

func (h *holder) giveBack(buffer *[]byte) {
	h.lent.Add(-(h.upTo + 1))
	h.buffers.Put(buffer)
}

// count learns how much is held, in a transaction.
func (h *holder) count(tx *metadata.Tx) error {
	total, err := tx.Bodies.Total()
	if err == nil {
		h.bytes.Store(total.Bytes)
	}
	return err
}

// received is a body that has come in whole: staged as a file, or, where that is nil, in memory.
type received struct {
	staged blobs.Staged
	buffer *[]byte // on loan
	bytes  []byte
	digest blobs.Digest
}

func (r *received) size() int64 {
	if r.staged != nil {
		return r.staged.Size()
	}
	return int64(len(r.bytes))
}

func (r *received) head() []byte {
	if r.staged != nil {
		return r.staged.Head()
	}
	return r.bytes[:min(len(r.bytes), blobs.HeadSize)]
}

// place is where the bytes will be.
func (r *received) place() metadata.Body {
	if r.staged != nil {
		return metadata.Filed
	}
	return metadata.Held
}

// receive reads a body to its end. One that is short enough stays in memory, any other one is brought to stable storage as a file; so is
// one whose blob is known to be damaged, which that file replaces.
func (s *Service) receive(ctx context.Context, body io.Reader) (*received, error) {
	if buffer := s.hold.lend(); buffer != nil {
		n, err := blobs.ReadFull(ctx, body, *buffer)
		begin := (*buffer)[:n]
		body = io.MultiReader(bytes.NewReader(begin), body)
		if err == io.EOF && n < len(*buffer) {
			digest := blobs.Digest(sha256.Sum256(begin))
			if wrong, err := s.knownDamage(ctx, digest); err != nil || wrong == "" {
				return &received{buffer: buffer, bytes: begin, digest: digest}, nil
			}
			body = bytes.NewReader(begin)
		}
		defer s.hold.giveBack(buffer)
		if err != nil && err != io.EOF {
			return nil, s.blobError(fmt.Errorf("read the body: %w", err))
		}
	}
	staged, err := s.blobs.Stage(ctx, body, s.config.MaxUpload)
	if err != nil {
		return nil, s.blobError(err)
	}
	return &received{staged: staged, digest: staged.Digest()}, nil
}

// discard gives back what the body occupies, unless it was placed.
func (s *Service) discard(r *received) error {
	if r.staged != nil {
		return r.staged.Discard()
	}
	s.hold.giveBack(r.buffer)
	return nil
}

// heldFile is a held body as OpenResource returns it: a copy, which nothing that happens to the resource changes.
type heldFile struct{ *bytes.Reader }

func (heldFile) Close() error { return nil }

// openHeld returns the body of a resource that is held.
func openHeld(tx *metadata.Tx, r metadata.Resource) (io.ReadSeekCloser, error) {
	body, err := readBody(tx, r)
	if err != nil {
		return nil, dataDamaged("resource "+r.ID.String(), err)
	}
	return heldFile{bytes.NewReader(body)}, nil
}

// traffic counts the uploads under way.
type traffic struct {
	begun time.Time // when counting began
	under atomic.Int64
	ended atomic.Int64 // how long after that the last one did, in nanoseconds
}

func (t *traffic) begin() { t.under.Add(1) }

func (t *traffic) end() {
	t.ended.Store(int64(time.Since(t.begun)))
	t.under.Add(-1)
}

// quiet tells whether no upload is under way and none was for a while.
func (t *traffic) quiet(d time.Duration) bool {
	return t.under.Load() == 0 && int64(time.Since(t.begun))-t.ended.Load() >= int64(d)
}
