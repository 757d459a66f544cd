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

// Upkeep maintains the stores: it checks, purges and copies them. It asks for no permission. It is
// safe for concurrent use.
type Upkeep struct {
	stores  *storage.Stores
	files   Files // nil: blobs are objects
	config  Config
	records bool // damage that is found is written down: the stores are those of a service that reads by it

	purging   sync.Mutex // held by the one purge that runs
	scrub     *scrubber
	scan      *scanner
	recheck   *rechecker
	watermark *watermarker
}

// Files is what upkeep needs of a blob store that is a folder, apart from reading blobs.
type Files interface {
	blobs.Remover
	blobs.Trash
}

// Config is what an operator decides about the upkeep of a service.
type Config struct {
	ScrubPeriod time.Duration    // in which every file is read once in the background, to find damage; 0: never
	TrashGrace  time.Duration    // how long a purge keeps removed files, unless the request says
	Now         func() time.Time // the clock

	// Purged hears of a purge that was more than a dry run: what it removed, how long it took, and
	// why it ended early. nil: none.
	Purged func(removed PurgeResult, took time.Duration, err error)
	// Scrubbed hears of a blob that was read in the background to see whether it is complete. nil:
	// none.
	Scrubbed func(bytes int64, damaged bool)
}

// Start begins with what runs in the background: before anything can change, it compares the
// metadata with the watermark. The caller ends it with Close.
func Start(s *storage.Stores, c Config) *Upkeep {
	files, _ := s.Blobs.(Files)
	u := &Upkeep{stores: s, files: files, config: c, records: true}
	u.watermark = startWatermarker(s, c.Now)
	u.scrub = startScrubber(s, c)
	u.scan = startScanner(s, c.Now)
	u.recheck = startRechecker(s, c.Now)
	return u
}

// Close stops what runs in the background. It is the last to be closed: after it nothing may change
// any more.
func (u *Upkeep) Close() {
	u.recheck.worker.Close()
	u.scan.worker.Close()
	u.scrub.close()
	u.watermark.close()
}

// NewUpkeep is for the command line on the machine itself, while no service runs on the stores.
// They may be open for reading only, as far as what is asked for only reads. The caller closes
// them.
func NewUpkeep(store metadata.Store, files blobs.Store) *Upkeep {
	folder, _ := files.(Files)
	return &Upkeep{stores: storage.New(store, files, nil), files: folder}
}

// TrashGrace returns how long the service keeps removed files, by its configuration; 0 without a
// service.
func (u *Upkeep) TrashGrace() time.Duration { return u.config.TrashGrace }

// Snapshot copies the metadata as they are at one moment. The caller closes it.
func (u *Upkeep) Snapshot(ctx context.Context) (metadata.Snapshot, error) {
	snapshot, err := u.stores.Meta.Snapshot(ctx)
	return snapshot, storage.Error(err)
}

// OpenBlob opens the blob with a digest in hexadecimal digits and returns its size in bytes, also
// while it lies in the trash: a copy of what a snapshot refers to is not disturbed by a purge
// meanwhile. The content is not hashed. The caller closes it.
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
	return file, size, nil
}

func blobNotFound() error {
	return &errs.Error{Kind: errs.NotFound, Code: errs.CodeBlobNotFound, Message: "there is no file with this digest"}
}

// openCommitted opens a blob that is not in the trash; blobs.ErrNotFound where it may be there.
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

// row reads the row of a blob, and what is known to be wrong with it.
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

// verify is Stores.Verify, without writing anything down where no service reads by it.
func (u *Upkeep) verify(ctx context.Context, b blobs.Blob) (wrong string, err error) {
	if u.records {
		return u.stores.Verify(ctx, b)
	}
	return storage.Verdict(b.Digest, blobs.Verify(ctx, u.stores.Blobs, b))
}
