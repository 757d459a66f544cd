package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"labshelf/blobs"
	"labshelf/blobs/directory"
)

// Room is the disk space that a backup uses: the sum of the sizes of its files.
type Room struct {
	Snapshots int64  `json:"snapshots"` // of the metadata
	Metadata  int64  `json:"metadata"`  // in bytes
	Files     extent `json:"files"`     // shared by the snapshots, including files that no snapshot refers to any more
}

// Bytes returns the sum.
func (r Room) Bytes() int64 { return r.Metadata + r.Files.Bytes }

// Listing is the content of a backup.
type Listing struct {
	Snapshots []Manifest // oldest first
	Unusable  []Unusable // snapshots with unreadable manifests; the one of manifest.json has no name
	Room      Room
}

// List returns the content of the backup in a folder from its manifests; it reads neither metadata
// nor files. Errors: ErrBroken for a folder without any manifest, ErrBusy.
func List(ctx context.Context, src string) (found Listing, err error) {
	locked, err := lockShared(src)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, locked.close()) }()
	c, err := readCatalog(src)
	if err != nil {
		return found, err
	}
	found.Snapshots, found.Unusable = c.all(), c.damaged
	switch {
	case c.missing != nil && len(found.Snapshots)+len(found.Unusable) == 0:
		return found, c.missing
	case c.missing != nil:
		found.Unusable = append(found.Unusable, Unusable{"", c.missing})
	}
	files, err := directory.OpenReadOnly(src)
	if err != nil {
		return found, err
	}
	found.Room, err = c.room(ctx, files)
	return found, err
}

// room adds up the sizes of the files, and counts the snapshots by the manifests.
func (c *catalog) room(ctx context.Context, files *directory.Store) (r Room, err error) {
	for _, m := range c.all() {
		r.Snapshots++
		r.Metadata += m.Database.Bytes
	}
	err = files.Walk(ctx, func(_ blobs.Digest, size int64) error {
		r.Files.Count++
		r.Files.Bytes += size
		return nil
	})
	return r, err
}

// sharedLock holds the lock of a backup for reading; file is nil if there is no lock file, as in a
// copy of a backup.
type sharedLock struct{ file *os.File }

func lockShared(folder string) (s sharedLock, err error) {
	if s.file, err = os.Open(filepath.Join(folder, lockFile)); errors.Is(err, os.ErrNotExist) {
		return sharedLock{}, nil
	}
	if err == nil {
		err = lock(s.file, false)
	}
	if err != nil {
		return sharedLock{}, errors.Join(err, s.close())
	}
	return s, nil
}

func (s sharedLock) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
