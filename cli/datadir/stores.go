package datadir

import (
	"errors"
	"fmt"
	"path/filepath"

	"labshelf/blobs"
	"labshelf/bolt"
)

// Stores says where the metadata and the files of a service are. The zero value is in the data directory.
type Stores struct {
	Metadata string // URL of a PostgreSQL database; "": MetadataFile
	Blobs    string // URL of a place in an S3; "": folders
}

// openMetadata opens the metadata; file is how, where they are a file.
func (d *Dir) openMetadata(at Stores, file bolt.Options) error {
	meta, err := bolt.Open(filepath.Join(d.Path, MetadataFile), file)
	if err != nil {
		return Explain(d.Path, err)
	}
	d.Metadata, d.file = meta, meta
	d.closers = append(d.closers, meta.Close)
	return nil
}

// openBlobs opens the blobs; folder opens them where they are folders.
func (d *Dir) openBlobs(at Stores, folder func() (*blobs.Dir, error)) error {
	store, err := folder()
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	d.Blobs, d.folder = store, store
	return nil
}

// Upgraded returns what opening the metadata file has done to it; nil: nothing, or there is none.
func (d *Dir) Upgraded() *bolt.Upgrade {
	if d.file == nil {
		return nil
	}
	return d.file.Upgraded()
}

// ErrNoFile: the metadata are no file.
var ErrNoFile = errors.New("the metadata are in a database")

// FileStats returns the state of the metadata file, or ErrNoFile.
func (d *Dir) FileStats() (bolt.Stats, error) {
	if d.file == nil {
		return bolt.Stats{}, ErrNoFile
	}
	return d.file.Stats()
}

// Room returns what tells how much room there is for files; nil: nobody knows.
func (d *Dir) Room() func() (blobs.FreeSpace, error) {
	if d.folder == nil {
		return nil
	}
	return d.folder.FreeSpace
}
