package blobstest

import (
	"context"
	"crypto/sha256"
	"encoding"
	"fmt"
	"io"
	"maps"
	"slices"

	"labshelf/blobs"
)

// AppendPartial implements [blobs.PartialFiles].
func (m *Memory) AppendPartial(ctx context.Context, name string, at blobs.Checkpoint, r io.Reader, most int64) (blobs.Checkpoint, error) {
	if err := m.CheckPartial(name, at); err != nil {
		return at, err
	}
	if err := ctx.Err(); err != nil {
		return at, err
	}
	more, reading := io.ReadAll(io.LimitReader(r, most))
	if reading == nil && int64(len(more)) < most {
		reading = io.EOF
	}
	if len(more) == 0 {
		return at, reading
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	body := append(slices.Clone(m.partials[name][:at.Size]), more...)
	hash := sha256.New()
	hash.Write(body)
	state, err := hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return at, err
	}
	m.partials[name] = body
	return blobs.Checkpoint{Size: int64(len(body)), Hash: string(state)}, reading
}

// TruncatePartial implements [blobs.PartialFiles]. Here AppendPartial leaves nothing behind.
func (m *Memory) TruncatePartial(string, blobs.Checkpoint) error { return nil }

// CheckPartial implements [blobs.PartialFiles].
func (m *Memory) CheckPartial(name string, at blobs.Checkpoint) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there := int64(len(m.partials[name])); there < at.Size {
		return fmt.Errorf("%w: the partial file %s has %d bytes, not %d", blobs.ErrNotFound, name, there, at.Size)
	}
	return nil
}

// StagePartial implements [blobs.PartialFiles].
func (m *Memory) StagePartial(name string, at blobs.Checkpoint) (blobs.Staged, error) {
	digest, err := at.Digest()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	body, there := m.partials[name]
	if !there && at.Size > 0 { // as where a file cannot have two names
		body = m.bodies[digest]
	}
	if int64(len(body)) != at.Size {
		return nil, fmt.Errorf("%w: the partial file %s", blobs.ErrNotFound, name)
	}
	_, committed := m.bodies[digest]
	return &completePartial{inMemory{store: m, digest: digest, body: body, committed: committed}}, nil
}

// completePartial is there until it is dropped.
type completePartial struct{ inMemory }

func (p *completePartial) Discard() error { return nil }

func (p *completePartial) Withdraw(confirm func() error) error {
	if !p.committed {
		return nil
	}
	return p.inMemory.Withdraw(confirm)
}

// RemovePartial implements [blobs.PartialFiles].
func (m *Memory) RemovePartial(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.partials, name)
	return nil
}

// WalkPartials implements [blobs.PartialFiles].
func (m *Memory) WalkPartials(ctx context.Context, fn func(name string) error) error {
	m.mu.Lock()
	names := slices.Sorted(maps.Keys(m.partials))
	m.mu.Unlock()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(name); err != nil {
			return err
		}
	}
	return nil
}
