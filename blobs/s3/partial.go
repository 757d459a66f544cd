package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"labshelf/blobs"
)

// position locates the bytes of a partial file. It is stored in the Parts of a checkpoint.
type position struct {
	Object string `json:"o,omitempty"` // name of the multipart upload; "": none
	Upload string `json:"u,omitempty"`
	Size   int64  `json:"s"`           // of each part, in bytes
	Count  int    `json:"n,omitempty"` // number of parts
	Sums   []byte `json:"c,omitempty"` // SHA-256 state of their digests
	Tail   string `json:"t,omitempty"` // object with the remaining bytes; "": none
	Digest []byte `json:"d,omitempty"` // SHA-256 of the tail
}

// positionOf decodes a checkpoint. The position of an empty checkpoint has the part size for the
// length. A checkpoint without a position belongs to a file in a folder, from which the metadata
// were moved here; positionOf returns ErrNotFound.
func positionOf(p blobs.Partial) (position, error) {
	if p.At.Size == 0 {
		return position{Size: partSizeOf(p.Length, partialPart)}, nil
	}
	if p.At.Parts == "" {
		return position{}, fmt.Errorf("%w: the partial file was in a folder", blobs.ErrNotFound)
	}
	var at position
	err := json.Unmarshal([]byte(p.At.Parts), &at)
	if err == nil && !at.fits(p.At) {
		err = errors.New("the rows of the checkpoint contradict each other")
	}
	if err != nil {
		return at, fmt.Errorf("%w: the parts of a partial file: %w", blobs.ErrDamaged, err)
	}
	return at, nil
}

// fits reports whether a position matches a checkpoint.
func (at position) fits(c blobs.Checkpoint) bool {
	last := c.Size - int64(at.Count)*at.Size // bytes after the parts; the last of these may be shorter
	if at.Tail == "" {
		last += at.Size
	}
	return at.Size > 0 && at.Count >= 0 && 0 < last && last <= at.Size &&
		(at.Tail != "" || at.Count > 0) && (at.Tail != "") == (len(at.Digest) == sha256.Size) && (at.Count > 0) == (at.Object != "" && at.Upload != "")
}

// tailSize returns the number of bytes of the tail.
func (at position) tailSize(c blobs.Checkpoint) int64 {
	if at.Tail == "" {
		return 0
	}
	return c.Size - int64(at.Count)*at.Size
}

// resume returns the parts of a position, with the tail in memory.
func (s *Store) resume(ctx context.Context, p blobs.Partial) (*parts, position, error) {
	at, err := positionOf(p)
	if err != nil {
		return nil, at, err
	}
	all := &parts{store: s, object: at.Object, upload: at.Upload, size: at.Size, count: at.Count, sums: sha256.New()}
	all.begun, _ = begunOf(at.Object)
	if at.Count > 0 {
		if err := all.sums.(encoding.BinaryUnmarshaler).UnmarshalBinary(at.Sums); err != nil {
			return nil, at, fmt.Errorf("%w: the checksum of a partial file: %w", blobs.ErrDamaged, err)
		}
	}
	if at.Tail == "" {
		return all, at, nil
	}
	tail := blobs.Blob{Digest: blobs.Digest(at.Digest), Size: at.tailSize(p.At), Object: at.Tail}
	all.rest, err = s.reader(ctx, tail).all()
	return all, at, err
}

// AppendPartial implements [blobs.PartialFiles].
func (s *Store) AppendPartial(ctx context.Context, p blobs.Partial, r io.Reader, most int64) (blobs.Checkpoint, error) {
	hash, err := p.At.Resume()
	if err != nil {
		return p.At, err
	}
	all, _, err := s.resume(context.WithoutCancel(ctx), p)
	if err != nil {
		return p.At, err
	}
	read := func(buf []byte) (int, error) {
		n, err := blobs.ReadFull(ctx, r, buf)
		hash.Write(buf[:n]) // never fails
		return n, err
	}
	added, reading, err := all.fill(ctx, read, most)
	if err = errors.Join(err, all.settle()); err != nil {
		return p.At, err
	}
	if added == 0 {
		return p.At, reading
	}
	next, err := p.At.Advance(added, hash)
	if err == nil {
		next.Parts, err = all.save(context.WithoutCancel(ctx), next.Size, p.Length)
	}
	if err != nil {
		return p.At, err
	}
	return next, reading
}

// save writes the bytes in memory to stable storage, and returns the position of all bytes.
func (p *parts) save(ctx context.Context, size, length int64) (string, error) {
	if length > p.size && (size == length || int64(len(p.rest)) == p.size) {
		if err := p.end(ctx); err != nil {
			return "", err
		}
	}
	at := position{Object: p.object, Upload: p.upload, Size: p.size, Count: p.count}
	if len(p.rest) > 0 {
		digest := blobs.Digest(sha256.Sum256(p.rest))
		name, _, err := p.store.putNew(ctx, p.rest, digest)
		if err == nil {
			err = p.store.head(ctx, name, int64(len(p.rest)), checksum(digest[:]))
		}
		if err != nil {
			return "", err
		}
		at.Tail, at.Digest = name, digest[:]
	}
	if p.count > 0 {
		state, err := p.sums.(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			return "", fmt.Errorf("s3: save the checksum of a partial file: %w", err)
		}
		at.Sums = state
	}
	text, err := json.Marshal(at)
	return string(text), err
}

// TruncatePartial implements [blobs.PartialFiles]. Bytes after a checkpoint are overwritten later,
// or are in objects that the checkpoint does not name.
func (s *Store) TruncatePartial(context.Context, blobs.Partial) error { return nil }

// CheckPartial implements [blobs.PartialFiles].
func (s *Store) CheckPartial(ctx context.Context, p blobs.Partial) error {
	at, err := positionOf(p)
	if err != nil || p.At.Size == 0 {
		return err
	}
	if at.Tail != "" {
		if err := s.sized(ctx, at.Tail, at.tailSize(p.At)); err != nil {
			return err
		}
	}
	if at.Count == 0 {
		return nil
	}
	page, err := s.client.ListObjectParts(ctx, s.bucket, s.key(at.Object), at.Upload, at.Count-1, 1)
	if err == nil && len(page.ObjectParts) == 1 && page.ObjectParts[0].PartNumber == at.Count {
		return nil
	}
	if err = failed("list the parts of "+at.Object, err); err == nil || errors.Is(err, blobs.ErrNotFound) {
		return s.sized(ctx, at.Object, p.At.Size) // it may be complete
	}
	return err
}

// sized returns ErrNotFound unless an object of this size exists.
func (s *Store) sized(ctx context.Context, name string, size int64) error {
	info, err := s.stat(ctx, name)
	if err == nil && info.Size != size {
		err = fmt.Errorf("%w: %s has %d bytes, not %d", blobs.ErrNotFound, name, info.Size, size)
	}
	return err
}

// StagePartial implements [blobs.PartialFiles]. It completes the multipart upload, unless that has
// been done.
func (s *Store) StagePartial(ctx context.Context, p blobs.Partial) (blobs.Staged, error) {
	digest, err := p.At.Digest()
	if err != nil {
		return nil, err
	}
	if p.At.Size == 0 {
		return s.Stage(ctx, bytes.NewReader(nil), 0)
	}
	all, at, err := s.resume(ctx, p)
	if err != nil {
		return nil, err
	}
	done := &staged{store: s, partial: true, sum: checksum(digest[:])}
	done.content.Blob = blobs.Blob{Digest: digest, Size: p.At.Size, Object: at.Tail}
	if at.Count > 0 {
		if err := s.completePartial(ctx, all, p.At.Size); err != nil {
			return nil, err
		}
		done.content.Object, done.upload, done.sum = at.Object, at.Upload, all.sum()
	}
	done.content.Begun, _ = begunOf(done.content.Object)
	done.content.Head, err = s.readHead(ctx, done.content.Blob)
	return done, err
}

// completePartial assembles the object from all parts. If the upload does not exist, the object
// must exist. Otherwise acknowledged bytes are lost, and it returns ErrNotFound.
func (s *Store) completePartial(ctx context.Context, all *parts, size int64) error {
	rest, before := all.rest, all.count
	err := all.end(ctx)
	if err == nil {
		err = s.complete(ctx, all)
	}
	if !errors.Is(err, blobs.ErrNotFound) {
		return err
	}
	if len(rest) > 0 && all.count == before {
		digest := sha256.Sum256(rest)
		all.sums.Write(digest[:]) // never fails
		all.count++
	}
	info, err := s.stat(ctx, all.object)
	if err != nil {
		return err
	}
	if info.Size != size || info.ChecksumSHA256 == "" || agree(all.object, info.ChecksumSHA256, all.sum()) != nil {
		return fmt.Errorf("%w: %s consists of other parts than the checkpoint", blobs.ErrNotFound, all.object)
	}
	return nil
}

// readHead returns the first bytes of a blob.
func (s *Store) readHead(ctx context.Context, b blobs.Blob) ([]byte, error) {
	size := min(b.Size, blobs.HeadSize)
	_, body, err := s.get(ctx, b, "", 0, size)
	if err != nil {
		return nil, err
	}
	head := make([]byte, size)
	_, err = io.ReadFull(body, head)
	return head, failed("read "+b.Object, errors.Join(err, body.Close()))
}

// PartialObjects implements [blobs.Objects].
func (s *Store) PartialObjects(at blobs.Checkpoint) ([]blobs.Object, error) {
	where, err := positionOf(blobs.Partial{At: at})
	if errors.Is(err, blobs.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []blobs.Object
	for _, one := range []blobs.Object{{Name: where.Object, Upload: where.Upload}, {Name: where.Tail, Size: where.tailSize(at)}} {
		if one.Name != "" {
			one.Begun, _ = begunOf(one.Name)
			all = append(all, one)
		}
	}
	return all, nil
}
