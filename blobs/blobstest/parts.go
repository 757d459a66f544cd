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

// AddPart implements [blobs.Parts].
func (m *Memory) AddPart(ctx context.Context, name string, mark blobs.Mark, r io.Reader, most int64) (blobs.Mark, error) {
	if err := m.HavePart(name, mark); err != nil {
		return mark, err
	}
	if err := ctx.Err(); err != nil {
		return mark, err
	}
	more, reading := io.ReadAll(io.LimitReader(r, most))
	if reading == nil && int64(len(more)) < most {
		reading = io.EOF
	}
	if len(more) == 0 {
		return mark, reading
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	body := append(slices.Clone(m.parts[name][:mark.Size]), more...)
	hash := sha256.New()
	hash.Write(body)
	state, err := hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return mark, err
	}
	m.parts[name] = body
	return blobs.Mark{Size: int64(len(body)), Hash: string(state)}, reading
}

// CutPart implements [blobs.Parts]. Here AddPart leaves nothing behind.
func (m *Memory) CutPart(string, blobs.Mark) error { return nil }

// HavePart implements [blobs.Parts].
func (m *Memory) HavePart(name string, mark blobs.Mark) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there := int64(len(m.parts[name])); there < mark.Size {
		return fmt.Errorf("%w: the part %s has %d bytes, not %d", blobs.ErrNotFound, name, there, mark.Size)
	}
	return nil
}

// WholePart implements [blobs.Parts].
func (m *Memory) WholePart(name string, mark blobs.Mark) (blobs.Staged, error) {
	digest, err := mark.Digest()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	body, there := m.parts[name]
	if !there && mark.Size > 0 { // as where a file cannot have two names
		body = m.bodies[digest]
	}
	if int64(len(body)) != mark.Size {
		return nil, fmt.Errorf("%w: the part %s", blobs.ErrNotFound, name)
	}
	_, placed := m.bodies[digest]
	return &wholePart{inMemory{store: m, digest: digest, body: body, placed: placed}}, nil
}

// wholePart is there until it is dropped.
type wholePart struct{ inMemory }

func (p *wholePart) Discard() error { return nil }

func (p *wholePart) Withdraw(confirm func() error) error {
	if !p.placed {
		return nil
	}
	return p.inMemory.Withdraw(confirm)
}

// DropPart implements [blobs.Parts].
func (m *Memory) DropPart(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.parts, name)
	return nil
}

// WalkParts implements [blobs.Parts].
func (m *Memory) WalkParts(ctx context.Context, fn func(name string) error) error {
	m.mu.Lock()
	names := slices.Sorted(maps.Keys(m.parts))
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
