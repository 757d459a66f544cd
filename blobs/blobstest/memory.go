package blobstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"labshelf/blobs"
)

// NewMemory returns an empty store that keeps its blobs in memory.
func NewMemory() blobs.Store {
	return &memory{bodies: make(map[blobs.Digest][]byte), pins: make(map[blobs.Digest]int)}
}

type memory struct {
	mu     sync.Mutex
	bodies map[blobs.Digest][]byte
	pins   map[blobs.Digest]int
}

// Stage implements [blobs.Store].
func (m *memory) Stage(ctx context.Context, r io.Reader, limit int64) (blobs.Staged, error) {
	if limit < 0 {
		return nil, blobs.ErrTooLarge
	}
	body, err := readAll(ctx, r, limit)
	if err != nil {
		return nil, err
	}
	return &inMemory{store: m, digest: sha256.Sum256(body), body: body}, nil
}

func readAll(ctx context.Context, r io.Reader, limit int64) ([]byte, error) {
	var body bytes.Buffer
	chunk := make([]byte, 32<<10)
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("read the body: %w", err)
		}
		room := chunk
		if limit > 0 {
			room = chunk[:1+min(int64(len(chunk)-1), limit-int64(body.Len()))]
		}
		n, err := r.Read(room)
		body.Write(room[:n])
		switch {
		case limit > 0 && int64(body.Len()) > limit:
			return nil, blobs.ErrTooLarge
		case err == io.EOF:
			return body.Bytes(), nil
		case err != nil:
			return nil, fmt.Errorf("read the body: %w", err)
		}
	}
}

// Open implements [blobs.Store].
func (m *memory) Open(digest blobs.Digest, size int64) (io.ReadSeekCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, found := m.bodies[digest]
	switch {
	case !found:
		return nil, blobs.ErrNotFound
	case int64(len(body)) != size:
		return nil, blobs.ErrDamaged
	}
	return opened{bytes.NewReader(body)}, nil
}

type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }

// Stat implements [blobs.Store].
func (m *memory) Stat(digest blobs.Digest) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, found := m.bodies[digest]
	if !found {
		return 0, blobs.ErrNotFound
	}
	return int64(len(body)), nil
}

// Walk implements [blobs.Store].
func (m *memory) Walk(ctx context.Context, fn func(blobs.Digest, int64) error) error {
	m.mu.Lock()
	bodies := maps.Clone(m.bodies)
	m.mu.Unlock()
	byDigest := func(a, b blobs.Digest) int { return bytes.Compare(a[:], b[:]) }
	for _, digest := range slices.SortedFunc(maps.Keys(bodies), byDigest) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(digest, int64(len(bodies[digest]))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Remove implements [blobs.Store].
func (m *memory) Remove(digest blobs.Digest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pins[digest] > 0 {
		return blobs.ErrPinned
	}
	if _, found := m.bodies[digest]; !found {
		return blobs.ErrNotFound
	}
	delete(m.bodies, digest)
	return nil
}

// Pin implements [blobs.Store].
func (m *memory) Pin(digest blobs.Digest) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pins[digest]++
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.pins[digest]--
	})
}

type inMemory struct {
	store     *memory
	digest    blobs.Digest
	body      []byte
	placed    bool
	discarded bool
}

func (s *inMemory) Digest() blobs.Digest { return s.digest }
func (s *inMemory) Size() int64          { return int64(len(s.body)) }
func (s *inMemory) Head() []byte         { return s.body[:min(len(s.body), blobs.HeadSize)] }

// Place implements [blobs.Staged].
func (s *inMemory) Place() error {
	if s.discarded {
		return fs.ErrClosed
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if !s.placed {
		s.store.bodies[s.digest] = s.body
	}
	s.placed = true
	return nil
}

// Discard implements [blobs.Staged].
func (s *inMemory) Discard() error {
	s.discarded = !s.placed
	return nil
}
