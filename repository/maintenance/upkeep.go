package maintenance

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/storage"
)

// Upkeep maintains the stores: it checks, purges and copies them. It checks no permissions. It is
// safe for concurrent use.
type Upkeep struct {
	stores  *storage.Stores
	files   Files // nil if blobs are objects
	config  Config
	records bool // record the damage that is found, because a service uses these stores

	purging   sync.Mutex // held during a purge
	scrub     *scrubber
	scan      *scanner
	recheck   *rechecker
	watermark *watermarker
}

// Files contains the methods that Upkeep needs of a blob store in a folder, in addition to reading
// blobs.
type Files interface {
	blobs.Remover
	blobs.Trash
}

// Config holds the operator's settings for the upkeep of a service.
type Config struct {
	ScrubPeriod time.Duration    // time in which the scrub reads every file once; 0 disables it
	TrashGrace  time.Duration    // how long a purge keeps removed files unless the request overrides it
	Now         func() time.Time // the clock

	// Purged, if not nil, is called after each purge except dry runs, with the result, the
	// duration, and the error.
	Purged func(removed PurgeResult, took time.Duration, err error)
	// Scrubbed, if not nil, is called after each blob that the scrub has read.
	Scrubbed func(bytes int64, damaged bool)
}

// Start compares the metadata with the watermark, before anything can change, and starts the
// background work. The caller must call Close.
func Start(s *storage.Stores, c Config) *Upkeep {
	files, _ := s.Blobs.(Files)
	u := &Upkeep{stores: s, files: files, config: c, records: true}
	u.watermark = startWatermarker(s, c.Now)
	u.scrub = startScrubber(s, c)
	u.scan = startScanner(s, c.Now)
	u.recheck = startRechecker(s, c.Now)
	return u
}

// Close stops the background work. It must be closed last: nothing may change afterwards.
func (u *Upkeep) Close() {
	u.recheck.worker.Close()
	u.scan.worker.Close()
	u.scrub.close()
	u.watermark.close()
}

// NewUpkeep is for the command line, while no service uses the stores. Stores opened for reading
// suffice for operations that only read. The caller closes the stores.
func NewUpkeep(store metadata.Store, files blobs.Store) *Upkeep {
	folder, _ := files.(Files)
	return &Upkeep{stores: storage.New(store, files, nil), files: folder}
}

// TrashGrace returns how long the service keeps removed files, as configured, or 0 without a
// service.
func (u *Upkeep) TrashGrace() time.Duration { return u.config.TrashGrace }

// Snapshot copies the metadata at one point in time. The caller must close the snapshot.
func (u *Upkeep) Snapshot(ctx context.Context) (metadata.Snapshot, error) {
	snapshot, err := u.stores.Meta.Snapshot(ctx)
	return snapshot, storage.Error(err)
}

// OpenBlob opens the blob with a hexadecimal digest and returns its size in bytes. It also finds
// blobs in the trash, so that a purge does not disturb a copy of the blobs that a snapshot refers
// to. The content is verified like other reads. The caller must close the file.
func (u *Upkeep) OpenBlob(ctx context.Context, digest string) (io.ReadSeekCloser, int64, error) {
	d, err := blobs.ParseDigest(digest)
	if err != nil || d.String() != digest {
		return nil, 0, blobNotFound()
	}
	file, size, err := u.openCommitted(ctx, d)
	if errors.Is(err, blobs.ErrNotFound) {
		file, size, err = u.openTrashed(ctx, d)
	}
	switch {
	case errors.Is(err, blobs.ErrNotFound):
		return nil, 0, blobNotFound()
	case err != nil:
		return nil, 0, u.stores.BlobError(err)
	}
	return u.stores.Verifying(file, blobs.Blob{Digest: d, Size: size}), size, nil
}

func blobNotFound() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeBlobNotFound, Message: "there is no file with this digest"}
}

// openCommitted opens a blob outside the trash. blobs.ErrNotFound means that it may be in the
// trash.
func (u *Upkeep) openCommitted(ctx context.Context, d blobs.Digest) (io.ReadSeekCloser, int64, error) {
	b, wrong, err := u.row(ctx, d)
	if errors.Is(err, metadata.ErrNotFound) { // removed since the snapshot that named it
		b.Size, err = u.stores.Blobs.Stat(ctx, b)
	}
	if err != nil {
		return nil, 0, err
	}
	if wrong == "" {
		file, missed := u.stores.Blobs.Open(ctx, b)
		if missed == nil {
			return file, b.Size, nil
		}
		if wrong, err = u.verify(ctx, b); wrong == "" {
			return nil, 0, errors.Join(missed, err)
		}
	}
	return nil, 0, storage.DamagedError("blob "+d.String(), errors.New(wrong))
}

// openTrashed opens a blob in the trash.
func (u *Upkeep) openTrashed(ctx context.Context, d blobs.Digest) (io.ReadSeekCloser, int64, error) {
	if u.stores.Objects == nil {
		return u.files.OpenTrashed(d)
	}
	var last blobs.Blob
	err := u.stores.Meta.View(ctx, func(tx *metadata.Tx) error {
		for o, err := range tx.Trashed.Of(d) {
			if err != nil {
				return err
			}
			last = o.Blob
		}
		return nil
	})
	if err == nil && last.Object == "" {
		err = blobs.ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := u.stores.Blobs.Open(ctx, last)
	return file, last.Size, err
}

// row reads the row of a blob, and its known damage.
func (u *Upkeep) row(ctx context.Context, d blobs.Digest) (b blobs.Blob, wrong string, err error) {
	b.Digest = d
	err = u.stores.Meta.View(ctx, func(tx *metadata.Tx) error {
		row, err := tx.Blobs.Get(d)
		if err != nil {
			return err
		}
		b = row
		wrong, err = u.stores.DamageOf(tx, d)
		return err
	})
	return b, wrong, err
}

// verify is like Stores.Verify, but records nothing if no service uses the stores.
func (u *Upkeep) verify(ctx context.Context, b blobs.Blob) (wrong string, err error) {
	if u.records {
		return u.stores.Verify(ctx, b)
	}
	return storage.Verdict(b.Digest, blobs.Verify(ctx, u.stores.Blobs, b))
}
