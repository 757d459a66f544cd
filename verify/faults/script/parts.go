package script

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository"
)

const transferKind = "transfer"

// begin begins a file that comes in parts.
func begin(into, name string, size int) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		in := w.ids[into]
		t, err := w.svc.BeginTransfer(ctx, w.admin, repository.TransferStart{
			Fields: repository.UploadFields{SetID: &in, Name: &name}, Length: int64(size), Announced: name,
		})
		w.ids[name] = t.ID.String()
		return err
	}
}

// part brings what is missing of a file up to a byte, as a client does who asks first how far it is.
func part(name string, size, end int) func(context.Context, *world) error {
	return withID(name, func(ctx context.Context, w *world, id string) error {
		t, err := w.svc.GetTransfer(ctx, w.admin, id)
		if err != nil || t.Done() || t.Mark.Size >= int64(end) {
			return err
		}
		return last(w.svc.ContinueTransfer(ctx, w.admin, id, repository.Piece{
			Offset: t.Mark.Size, Length: -1, Body: bytes.NewReader(Body(size)[t.Mark.Size:end]), Stop: func() {},
		}))
	})
}

func giveUp(name string) func(context.Context, *world) error {
	return withID(name, func(ctx context.Context, w *world, id string) error { return w.svc.EndTransfer(ctx, w.admin, id) })
}

// eachTransfer calls fn with every transfer: all of them expire some day.
func eachTransfer(tx *metadata.Tx, fn func(metadata.Transfer) error) error {
	return each(tx.Transfers.Ended(1<<62), func(id metadata.ID) error {
		t, err := tx.Transfers.Get(id)
		if err != nil {
			return err
		}
		return fn(t)
	})
}

func (r *reader) transfers() error {
	return eachTransfer(r.tx, func(t metadata.Transfer) error {
		t.Mark.Hash = hex.EncodeToString([]byte(t.Mark.Hash)) // it is told as text
		r.note(transferKind, t.Announced, t, t.Mark.Size, t.Length, t.Done())
		return nil
	})
}

// lostParts tells of each file that comes in parts, and has not come whole, whether what was acknowledged of it is there.
func (w *world) lostParts(ctx context.Context) (wrong []string, err error) {
	err = w.store.View(ctx, func(tx *metadata.Tx) error {
		return eachTransfer(tx, func(t metadata.Transfer) error {
			if t.Done() {
				return nil
			}
			if err := w.partThere(t); err != nil {
				wrong = append(wrong, fmt.Sprintf("of %s, %d bytes were acknowledged: %v", t.Announced, t.Mark.Size, err))
			}
			return nil
		})
	})
	return wrong, err
}

func (w *world) partThere(t metadata.Transfer) error {
	if t.Whole() {
		staged, err := w.files.WholePart(t.ID.String(), t.Mark)
		if err != nil {
			return err
		}
		path := filepath.Join(w.dir, "parts", t.ID.String())
		if _, err := os.Lstat(path); err != nil {
			return blobs.Verify(context.Background(), w.files, staged.Digest(), staged.Size())
		}
	}
	if t.Mark.Size == 0 {
		return nil
	}
	body, err := os.ReadFile(filepath.Join(w.dir, "parts", t.ID.String()))
	if err != nil {
		return err
	}
	if int64(len(body)) < t.Mark.Size {
		return fmt.Errorf("%d are there", len(body))
	}
	hash := sha256.New()
	hash.Write(body[:t.Mark.Size])
	state, err := hash.(encoding.BinaryMarshaler).MarshalBinary()
	if err == nil && string(state) != t.Mark.Hash {
		err = fmt.Errorf("they are others")
	}
	return err
}
