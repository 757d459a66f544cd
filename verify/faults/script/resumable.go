package script

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/files"
	"labshelf/repository/resumable"
)

const uploadKind = "upload"

// begin begins a resumable upload.
func begin(into, name string, size int) func(context.Context, *stores) error {
	return func(ctx context.Context, w *stores) error {
		in := w.ids[into]
		t, err := w.svc.Uploads.Create(ctx, w.admin, files.UploadStart{
			Fields: files.UploadFields{SetID: &in, Name: &name}, Length: int64(size), Announced: name,
		})
		w.ids[name] = t.ID.String()
		return err
	}
}

// part sends the missing bytes of an upload up to end. Like a client, it first reads the offset.
func part(name string, size, end int) func(context.Context, *stores) error {
	return withID(name, func(ctx context.Context, w *stores, id string) error {
		t, err := w.svc.Uploads.Chunks.Get(ctx, w.admin, id)
		if err != nil || t.Done() || t.Checkpoint.Size >= int64(end) {
			return err
		}
		return last(w.svc.Uploads.Chunks.Append(ctx, w.admin, id, resumable.Chunk{
			Offset: t.Checkpoint.Size, Length: -1, Body: bytes.NewReader(Body(size)[t.Checkpoint.Size:end]), Stop: func() {},
		}))
	})
}

func cancel(name string) func(context.Context, *stores) error {
	return withID(name, func(ctx context.Context, w *stores, id string) error {
		return w.svc.Uploads.Chunks.Terminate(ctx, w.admin, id)
	})
}

// eachUpload calls fn with every resumable upload: each of them has an expiry time.
func eachUpload(tx *metadata.Tx, fn func(metadata.ResumableUpload) error) error {
	return each(tx.Uploads.Ended(1<<62), func(id metadata.ID) error {
		t, err := tx.Uploads.Get(id)
		if err != nil {
			return err
		}
		return fn(t)
	})
}

func (r *reader) uploads() error {
	return eachUpload(r.tx, func(t metadata.ResumableUpload) error {
		t.Checkpoint.Hash = hex.EncodeToString([]byte(t.Checkpoint.Hash)) // reported in hexadecimal
		r.note(uploadKind, t.Announced, t, t.Checkpoint.Size, t.Length, t.Done())
		return nil
	})
}

// strays counts the partial files whose upload has no row or has become a resource.
func (w *stores) strays(ctx context.Context) (n int, err error) {
	entries, err := os.ReadDir(filepath.Join(w.dir, "parts"))
	if err != nil {
		return 0, errs.Ignore(err, fs.ErrNotExist)
	}
	err = w.store.View(ctx, func(tx *metadata.Tx) error {
		for _, e := range entries {
			id, ok := metadata.ParseID(e.Name())
			if !ok {
				continue
			}
			t, err := tx.Uploads.Get(id)
			if err = errs.Ignore(err, metadata.ErrNotFound); err != nil {
				return err
			}
			if t.ID == (metadata.ID{}) || t.Done() {
				n++
			}
		}
		return nil
	})
	return n, err
}

// lostChunks returns the incomplete resumable uploads with missing acknowledged bytes.
func (w *stores) lostChunks(ctx context.Context) (wrong []string, err error) {
	err = w.store.View(ctx, func(tx *metadata.Tx) error {
		return eachUpload(tx, func(t metadata.ResumableUpload) error {
			if t.Done() {
				return nil
			}
			if err := w.checkPartial(t); err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %d bytes were acknowledged: %v", t.Announced, t.Checkpoint.Size, err))
			}
			return nil
		})
	})
	return wrong, err
}

func (w *stores) checkPartial(t metadata.ResumableUpload) error {
	if t.Received() {
		staged, err := w.files.StagePartial(context.Background(), blobs.Partial{Name: t.ID.String(), Length: t.Length, At: t.Checkpoint})
		if err != nil {
			return err
		}
		path := filepath.Join(w.dir, "parts", t.ID.String())
		if _, err := os.Lstat(path); err != nil {
			return blobs.Verify(context.Background(), w.files, staged.Content().Blob)
		}
	}
	if t.Checkpoint.Size == 0 {
		return nil
	}
	body, err := os.ReadFile(filepath.Join(w.dir, "parts", t.ID.String()))
	if err != nil {
		return err
	}
	if int64(len(body)) < t.Checkpoint.Size {
		return fmt.Errorf("only %d bytes exist", len(body))
	}
	hash := sha256.New()
	hash.Write(body[:t.Checkpoint.Size])
	state, err := hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err == nil && string(state) != t.Checkpoint.Hash {
		err = fmt.Errorf("the bytes have changed")
	}
	return err
}
