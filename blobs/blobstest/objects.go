package blobstest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"labshelf/blobs"
)

// MemoryObjects is a store of [blobs.Objects] in memory. Several services may share one store. A
// partial file has a separate object for each checkpoint.
type MemoryObjects struct {
	clock blobs.Clock

	mu     sync.Mutex
	bodies map[string][]byte
}

// ObjectStore is a store with [blobs.Objects].
type ObjectStore interface {
	blobs.Store
	blobs.Objects
}

var _ ObjectStore = (*MemoryObjects)(nil)

// NewObjects returns an empty store that dates objects by a clock. It need not be closed.
func NewObjects(clock blobs.Clock) *MemoryObjects {
	return &MemoryObjects{clock: clock, bodies: map[string][]byte{}}
}

// put creates an object with a new name.
func (m *MemoryObjects) put(ctx context.Context, body []byte) (name string, begun time.Time, err error) {
	now, err := m.clock(ctx)
	if err != nil {
		return "", now, err
	}
	id := ulid.MustNew(ulid.Timestamp(now), rand.Reader)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies[id.String()] = bytes.Clone(body)
	return id.String(), ulid.Time(id.Time()), nil
}

func (m *MemoryObjects) get(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, found := m.bodies[name]
	if !found {
		return nil, fmt.Errorf("%w: object %s", blobs.ErrNotFound, name)
	}
	return body, nil
}

// Open implements [blobs.Store].
func (m *MemoryObjects) Open(_ context.Context, b blobs.Blob) (io.ReadSeekCloser, error) {
	body, err := m.get(b.Object)
	if err == nil && int64(len(body)) != b.Size {
		err = fmt.Errorf("%w: object %s has %d bytes, not %d", blobs.ErrDamaged, b.Object, len(body), b.Size)
	}
	if err != nil {
		return nil, err
	}
	return opened{bytes.NewReader(body)}, nil
}

// Stat implements [blobs.Store].
func (m *MemoryObjects) Stat(_ context.Context, b blobs.Blob) (int64, error) {
	body, err := m.get(b.Object)
	return int64(len(body)), err
}

// Stage implements [blobs.Store].
func (m *MemoryObjects) Stage(ctx context.Context, r io.Reader, limit int64) (blobs.Staged, error) {
	if limit < 0 {
		return nil, blobs.ErrTooLarge
	}
	body, err := readAll(ctx, r, limit)
	if err != nil {
		return nil, err
	}
	return m.stage(ctx, body)
}

func (m *MemoryObjects) stage(ctx context.Context, body []byte) (*stagedObject, error) {
	name, begun, err := m.put(ctx, body)
	if err != nil {
		return nil, err
	}
	s := &stagedObject{store: m, content: blobs.Content{Blob: blobOf(body), Head: body[:min(len(body), blobs.HeadSize)], Begun: begun}}
	s.content.Object = name
	return s, nil
}

// CommitAll implements [blobs.Store].
func (m *MemoryObjects) CommitAll(ctx context.Context, bodies iter.Seq[[]byte]) (all []blobs.Content, err error) {
	for body := range bodies {
		s, err := m.stage(ctx, body)
		if err != nil {
			return nil, err
		}
		c, err := s.Commit(ctx)
		if err != nil {
			return nil, err
		}
		c.Head = nil
		all = append(all, c)
	}
	return all, nil
}

// Pin implements [blobs.Store]: objects need no pins.
func (m *MemoryObjects) Pin(blobs.Digest) (release func()) { return func() {} }

// WalkObjects implements [blobs.Objects].
func (m *MemoryObjects) WalkObjects(ctx context.Context, fn func(blobs.Object) error) error {
	m.mu.Lock()
	bodies := maps.Clone(m.bodies)
	m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(bodies)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(objectOf(name, bodies[name])); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func objectOf(name string, body []byte) blobs.Object {
	return blobs.Object{Name: name, Size: int64(len(body)), Begun: ulid.Time(ulid.MustParse(name).Time())}
}

// DeleteObject implements [blobs.Objects].
func (m *MemoryObjects) DeleteObject(_ context.Context, o blobs.Object) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.bodies, o.Name)
	return nil
}

// PartialObjects implements [blobs.Objects].
func (m *MemoryObjects) PartialObjects(at blobs.Checkpoint) ([]blobs.Object, error) {
	if at.Parts == "" {
		return nil, nil
	}
	id, err := ulid.ParseStrict(at.Parts)
	if err != nil {
		return nil, fmt.Errorf("%w: the parts of a checkpoint: %w", blobs.ErrDamaged, err)
	}
	return []blobs.Object{{Name: at.Parts, Size: at.Size, Begun: ulid.Time(id.Time())}}, nil
}

// AppendPartial implements [blobs.PartialFiles].
func (m *MemoryObjects) AppendPartial(ctx context.Context, p blobs.Partial, r io.Reader, most int64) (blobs.Checkpoint, error) {
	before, err := m.partial(p)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return p.At, err
	}
	more, reading := io.ReadAll(io.LimitReader(r, most))
	if reading == nil && int64(len(more)) < most {
		reading = io.EOF
	}
	if len(more) == 0 {
		return p.At, reading
	}
	body := slices.Concat(before, more)
	name, _, err := m.put(ctx, body)
	if err != nil {
		return p.At, err
	}
	reached := checkpointOf(body)
	reached.Parts = name
	return reached, reading
}

// partial returns the bytes of a partial file.
func (m *MemoryObjects) partial(p blobs.Partial) ([]byte, error) {
	if p.At.Size == 0 {
		return nil, nil
	}
	body, err := m.get(p.At.Parts)
	if err == nil && int64(len(body)) != p.At.Size {
		err = fmt.Errorf("%w: object %s has %d bytes, not %d", blobs.ErrNotFound, p.At.Parts, len(body), p.At.Size)
	}
	return body, err
}

// TruncatePartial implements [blobs.PartialFiles]: bytes after the checkpoint are in other objects.
func (m *MemoryObjects) TruncatePartial(context.Context, blobs.Partial) error { return nil }

// CheckPartial implements [blobs.PartialFiles].
func (m *MemoryObjects) CheckPartial(_ context.Context, p blobs.Partial) error {
	_, err := m.partial(p)
	return err
}

// StagePartial implements [blobs.PartialFiles].
func (m *MemoryObjects) StagePartial(ctx context.Context, p blobs.Partial) (blobs.Staged, error) {
	if _, err := p.At.Digest(); err != nil {
		return nil, err
	}
	body, err := m.partial(p)
	if err != nil {
		return nil, err
	}
	if p.At.Parts == "" { // an empty body
		return m.stage(ctx, body)
	}
	s := &stagedObject{store: m, partial: true, content: blobs.Content{Blob: blobOf(body), Head: body[:min(len(body), blobs.HeadSize)]}}
	s.content.Object, s.content.Begun = p.At.Parts, objectOf(p.At.Parts, body).Begun
	return s, nil
}

// stagedObject is an object that no record refers to yet.
type stagedObject struct {
	store                         *MemoryObjects
	content                       blobs.Content
	partial, committed, discarded bool
}

// Content implements [blobs.Staged].
func (s *stagedObject) Content() blobs.Content { return s.content }

// Commit implements [blobs.Staged].
func (s *stagedObject) Commit(ctx context.Context) (blobs.Content, error) {
	if s.discarded {
		return blobs.Content{}, fs.ErrClosed
	}
	now, err := s.store.clock(ctx)
	if err == nil {
		_, err = s.store.get(s.content.Object)
	}
	if err != nil {
		return blobs.Content{}, err
	}
	s.content.Put, s.committed = now, true
	return s.content, nil
}

// Discard implements [blobs.Staged].
func (s *stagedObject) Discard() error {
	if s.committed || s.partial {
		return nil
	}
	return s.delete()
}

// Withdraw implements [blobs.Staged].
func (s *stagedObject) Withdraw(confirm func() error) error {
	if err := confirm(); err != nil {
		return err
	}
	return s.delete()
}

func (s *stagedObject) delete() error {
	s.discarded = true
	return s.store.DeleteObject(context.Background(), blobs.Object{Name: s.content.Object})
}

// otherName returns a valid name that no object has.
func otherName(name string) string { return "00" + strings.Repeat("Z", len(name)-2) }
