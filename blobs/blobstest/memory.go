package blobstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"labshelf/blobs"
)

// Memory is a [blobs.Folder] in memory, including removed blobs.
type Memory struct {
	mu       sync.Mutex
	freed    sync.Cond // signals the end of a removal
	bodies   map[blobs.Digest][]byte
	partials map[string][]byte
	trash    map[blobs.Digest]trashed
	pins     map[blobs.Digest]int
	claimed  map[blobs.Digest]bool // being removed
}

type trashed struct {
	body    []byte
	removed time.Time
}

var (
	_ blobs.Folder = (*Memory)(nil)
)

// NewMemory returns an empty store. It need not be closed.
func NewMemory() *Memory {
	m := &Memory{
		bodies: make(map[blobs.Digest][]byte), trash: make(map[blobs.Digest]trashed),
		partials: make(map[string][]byte), pins: make(map[blobs.Digest]int), claimed: make(map[blobs.Digest]bool),
	}
	m.freed.L = &m.mu
	return m
}

// Stage implements [blobs.Store].
func (m *Memory) Stage(ctx context.Context, r io.Reader, limit int64) (blobs.Staged, error) {
	if limit < 0 {
		return nil, blobs.ErrTooLarge
	}
	body, err := readAll(ctx, r, limit)
	if err != nil {
		return nil, err
	}
	return &inMemory{store: m, digest: sha256.Sum256(body), body: body}, nil
}

// CommitAll implements [blobs.Store].
func (m *Memory) CommitAll(_ context.Context, bodies iter.Seq[[]byte]) ([]blobs.Content, error) {
	var committed []blobs.Content
	for body := range bodies {
		b := blobOf(body)
		m.mu.Lock()
		m.bodies[b.Digest] = bytes.Clone(body)
		m.mu.Unlock()
		committed = append(committed, blobs.Content{Blob: b})
	}
	return committed, nil
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
func (m *Memory) Open(_ context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, found := m.bodies[b.Digest]
	switch {
	case !found:
		return nil, blobs.ErrNotFound
	case int64(len(body)) != b.Size:
		return nil, blobs.ErrDamaged
	}
	return opened{bytes.NewReader(body)}, nil
}

type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }

// Stat implements [blobs.Store].
func (m *Memory) Stat(_ context.Context, b blobs.Blob) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, found := m.bodies[b.Digest]
	if !found {
		return 0, blobs.ErrNotFound
	}
	return int64(len(body)), nil
}

// Walk implements [blobs.Walker].
func (m *Memory) Walk(ctx context.Context, fn func(blobs.Digest, int64) error) error {
	m.mu.Lock()
	bodies := maps.Clone(m.bodies)
	m.mu.Unlock()
	for _, digest := range slices.SortedFunc(maps.Keys(bodies), compare) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(digest, int64(len(bodies[digest]))); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Remove implements [blobs.Remover].
func (m *Memory) Remove(digest blobs.Digest, confirm func() error) error {
	if !m.claim(digest) {
		return blobs.ErrPinned
	}
	defer m.unclaim(digest)
	if confirm != nil {
		if err := confirm(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	body, found := m.bodies[digest]
	if !found {
		return blobs.ErrNotFound
	}
	delete(m.bodies, digest)
	m.trash[digest] = trashed{body, time.Now()}
	return nil
}

func (m *Memory) claim(digest blobs.Digest) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.claimed[digest] {
		m.freed.Wait()
	}
	m.claimed[digest] = m.pins[digest] == 0
	return m.claimed[digest]
}

func (m *Memory) unclaim(digest blobs.Digest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.claimed, digest)
	m.freed.Broadcast()
}

// Pin implements [blobs.Store].
func (m *Memory) Pin(digest blobs.Digest) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.claimed[digest] {
		m.freed.Wait()
	}
	m.pins[digest]++
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.pins[digest]--
	})
}

// OpenTrashed implements [blobs.Trash].
func (m *Memory) OpenTrashed(digest blobs.Digest) (io.ReadSeekCloser, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone, found := m.trash[digest]
	if !found {
		return nil, 0, blobs.ErrNotFound
	}
	return opened{bytes.NewReader(gone.body)}, int64(len(gone.body)), nil
}

// WalkTrash implements [blobs.Trash].
func (m *Memory) WalkTrash(ctx context.Context, fn func(blobs.Digest, int64, time.Time) error) error {
	m.mu.Lock()
	trash := maps.Clone(m.trash)
	m.mu.Unlock()
	for _, digest := range slices.SortedFunc(maps.Keys(trash), compare) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(digest, int64(len(trash[digest].body)), trash[digest].removed); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// DeleteTrashed implements [blobs.Trash].
func (m *Memory) DeleteTrashed(digest blobs.Digest) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.trash, digest)
	return nil
}

// EmptyTrash implements [blobs.Trash].
func (m *Memory) EmptyTrash(ctx context.Context, before time.Time) (files int, bytes int64, err error) {
	err = m.WalkTrash(ctx, func(digest blobs.Digest, size int64, _ time.Time) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if gone, found := m.trash[digest]; found && gone.removed.Before(before) {
			delete(m.trash, digest)
			files++
			bytes += size
		}
		return nil
	})
	return files, bytes, err
}

type inMemory struct {
	store     *Memory
	digest    blobs.Digest
	body      []byte
	committed bool
	discarded bool
}

// Content implements [blobs.Staged].
func (s *inMemory) Content() blobs.Content {
	return blobs.Content{Blob: blobs.Blob{Digest: s.digest, Size: int64(len(s.body))}, Head: s.body[:min(len(s.body), blobs.HeadSize)]}
}

// Commit implements [blobs.Staged].
func (s *inMemory) Commit(context.Context) (blobs.Content, error) {
	if s.discarded {
		return blobs.Content{}, fs.ErrClosed
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if !s.committed {
		s.store.bodies[s.digest] = s.body
	}
	s.committed = true
	return s.Content(), nil
}

// Discard implements [blobs.Staged].
func (s *inMemory) Discard() error {
	s.discarded = !s.committed
	return nil
}

// Withdraw implements [blobs.Staged].
func (s *inMemory) Withdraw(confirm func() error) error {
	if !s.committed {
		return s.Discard()
	}
	if !s.store.claim(s.digest) {
		return blobs.ErrPinned
	}
	defer s.store.unclaim(s.digest)
	if err := confirm(); err != nil {
		return err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	delete(s.store.bodies, s.digest)
	return nil
}
