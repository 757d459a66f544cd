package repository

import (
	"context"
	"errors"
	"io"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
)

// Upkeep looks after the stores: it checks, purges and copies them. It asks nobody for permission. It is safe for concurrent use.
type Upkeep struct {
	*stores
	marks bool // damage that is found is written down: the stores are those of a service that reads by it
	grace time.Duration
}

// NewUpkeep is for the command line on the machine itself, while no service runs on the stores. They may be open for reading
// only, as far as what is asked for only reads. The caller closes them.
func NewUpkeep(store metadata.Store, files blobs.Store) *Upkeep {
	return &Upkeep{stores: newStores(store, files, nil)}
}

// Upkeep is for sysadmins, while the service runs.
func (s *Service) Upkeep(ctx context.Context, p auth.Principal) (*Upkeep, error) {
	err := s.view(ctx, p, func(_ *metadata.Tx, p auth.Principal) error { return onlySysadmin(p) })
	if err != nil {
		return nil, err
	}
	return &Upkeep{stores: s.stores, marks: true, grace: s.config.TrashGrace}, nil
}

// TrashGrace returns how long the service keeps removed files, by its configuration; 0 without a service.
func (u *Upkeep) TrashGrace() time.Duration { return u.grace }

// Snapshot copies the metadata as they are at one moment. The caller closes it.
func (u *Upkeep) Snapshot(ctx context.Context) (metadata.Snapshot, error) {
	snapshot, err := u.meta.Snapshot(ctx)
	return snapshot, storageError(err)
}

// OpenBlob opens the blob with a digest in hexadecimal digits and returns its size in bytes, also while it lies in the trash: who
// copies what a snapshot refers to is not disturbed by a purge meanwhile. The content is not hashed. The caller closes it.
func (u *Upkeep) OpenBlob(ctx context.Context, digest string) (io.ReadSeekCloser, int64, error) {
	d, err := blobs.ParseDigest(digest)
	if err != nil || d.String() != digest {
		return nil, 0, blobNotFound()
	}
	file, size, err := u.openKept(ctx, d)
	if trash, ok := u.blobs.(blobs.Trash); ok && errors.Is(err, blobs.ErrNotFound) {
		file, size, err = trash.OpenTrashed(d)
	}
	switch {
	case errors.Is(err, blobs.ErrNotFound):
		return nil, 0, blobNotFound()
	case err != nil:
		return nil, 0, u.blobError(err)
	}
	return file, size, nil
}

func blobNotFound() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeBlobNotFound, Message: "there is no file with this digest"}
}

// openKept opens a blob that is not in the trash; blobs.ErrNotFound where it may be there.
func (u *Upkeep) openKept(ctx context.Context, d blobs.Digest) (io.ReadSeekCloser, int64, error) {
	b, wrong, err := u.row(ctx, d)
	if errors.Is(err, metadata.ErrNotFound) { // removed since the snapshot that named it
		b.Bytes, err = u.blobs.Stat(d)
	}
	if err != nil {
		return nil, 0, err
	}
	if wrong == "" {
		file, missed := u.blobs.Open(d, b.Bytes)
		if missed == nil {
			return file, b.Bytes, nil
		}
		if wrong, err = u.look(ctx, b); wrong == "" {
			return nil, 0, errors.Join(missed, err)
		}
	}
	return nil, 0, dataDamaged("blob "+d.String(), errors.New(wrong))
}

// row reads the row of a blob, and what is known to be wrong with it.
func (u *Upkeep) row(ctx context.Context, d blobs.Digest) (b metadata.Blob, wrong string, err error) {
	b.Digest = d
	err = u.meta.View(ctx, func(tx *metadata.Tx) error {
		if b.Bytes, err = tx.Blobs.Size(d); err != nil {
			return err
		}
		wrong, err = u.damageOf(tx, d)
		return err
	})
	return b, wrong, err
}

// look is judge, without writing anything down where nobody reads by it.
func (u *Upkeep) look(ctx context.Context, b metadata.Blob) (wrong string, err error) {
	if u.marks {
		return u.judge(ctx, b)
	}
	return verdict(b.Digest, blobs.Verify(ctx, u.blobs, b.Digest, b.Bytes))
}
