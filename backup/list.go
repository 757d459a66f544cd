package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"labshelf/blobs"
)

// Room is what a backup takes on its disk, in bytes of its files.
type Room struct {
	Snapshots int64  `json:"snapshots"` // of the metadata
	Metadata  int64  `json:"metadata"`  // bytes of theirs
	Files     extent `json:"files"`     // shared by the snapshots, also those that none of them needs any more
}

// Bytes returns the sum.
func (r Room) Bytes() int64 { return r.Metadata + r.Files.Bytes }

// Listing is what a backup holds.
type Listing struct {
	Snapshots []Manifest // oldest first
	Unusable  []Unusable // snapshots whose manifests cannot be read; that of manifest.json without a name
	Room      Room
}

// List tells what the backup in a folder holds, by its manifests; it reads neither metadata nor files. Errors: ErrBroken for a folder
// without any manifest, ErrBusy.
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
	files, err := blobs.OpenDirReadOnly(src)
	if err != nil {
		return found, err
	}
	found.Room, err = c.room(ctx, files)
	return found, err
}

// room counts what is there, by the manifests and by the lengths of the files.
func (c *catalog) room(ctx context.Context, files *blobs.Dir) (r Room, err error) {
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

// sharedLock is the lock of a backup that others may read, too; nil where it has none, as after copying it without.
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
