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
func (m *Memory) AppendPartial(ctx context.Context, p blobs.Partial, r io.Reader, most int64) (blobs.Checkpoint, error) {
	name, at := p.Name, p.At
	if err := m.CheckPartial(ctx, p); err != nil {
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
	if int64(len(m.partials[name])) < at.Size { // another caller has removed it in the meantime
		return at, fmt.Errorf("%w: the partial file %s", blobs.ErrNotFound, name)
	}
	body := append(slices.Clone(m.partials[name][:at.Size]), more...)
	m.partials[name] = body
	return checkpointOf(body), reading
}

// checkpointOf returns the checkpoint at the end of a body.
func checkpointOf(body []byte) blobs.Checkpoint {
	hash := sha256.New()
	hash.Write(body)
	state, err := hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		panic(err) // the state of SHA-256 can always be saved
	}
	return blobs.Checkpoint{Size: int64(len(body)), Hash: string(state)}
}

// TruncatePartial implements [blobs.PartialFiles]. AppendPartial leaves nothing to truncate.
func (m *Memory) TruncatePartial(context.Context, blobs.Partial) error { return nil }

// CheckPartial implements [blobs.PartialFiles].
func (m *Memory) CheckPartial(_ context.Context, p blobs.Partial) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if there := int64(len(m.partials[p.Name])); there < p.At.Size {
		return fmt.Errorf("%w: the partial file %s has %d bytes, not %d", blobs.ErrNotFound, p.Name, there, p.At.Size)
	}
	return nil
}

// StagePartial implements [blobs.PartialFiles].
func (m *Memory) StagePartial(_ context.Context, p blobs.Partial) (blobs.Staged, error) {
	name, at := p.Name, p.At
	digest, err := at.Digest()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	body, there := m.partials[name]
	if !there && at.Size > 0 { // as on a file system without hard links, where committing moves the partial file
		body = m.bodies[digest]
	}
	if int64(len(body)) != at.Size {
		return nil, fmt.Errorf("%w: the partial file %s", blobs.ErrNotFound, name)
	}
	_, committed := m.bodies[digest]
	return &completePartial{inMemory{store: m, digest: digest, body: body, committed: committed}}, nil
}

// completePartial exists until it is removed.
type completePartial struct{ inMemory }

func (p *completePartial) Discard() error { return nil }

func (p *completePartial) Withdraw(confirm func() error) error {
	if !p.committed {
		return nil
	}
	return p.inMemory.Withdraw(confirm)
}

// RemovePartial implements [blobs.PartialRemover].
func (m *Memory) RemovePartial(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.partials, name)
	return nil
}

// WalkPartials implements [blobs.PartialRemover].
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
