package datadir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/postgres"
)

// Stores says where the metadata and the files of a service are. The zero value is in the data directory.
type Stores struct {
	Metadata string // URL of a PostgreSQL database; "": MetadataFile
	Blobs    string // URL of a place in an S3; "": folders
}

// ErrMixed: the stores do not go together.
var ErrMixed = errors.New("the metadata and the files do not go together")

// connectLimit is how long a database or an S3 may take to answer at the start.
const connectLimit = 30 * time.Second

// recently is how long ago a node that runs has last said so, at most.
const recently = time.Minute

// openMetadata opens the metadata; file is how, where they are a file.
func (d *Dir) openMetadata(at Stores, file bolt.Options) error {
	if at.Metadata != "" {
		return d.openDatabase(at, file.ReadOnly)
	}
	meta, err := bolt.Open(filepath.Join(d.Path, MetadataFile), file)
	if err != nil {
		return Explain(d.Path, err)
	}
	d.Metadata, d.file = meta, meta
	d.closers = append(d.closers, meta.Close)
	return nil
}

// openDatabase opens metadata that several processes can share. A file keeps a second one away from what else is in the directory.
func (d *Dir) openDatabase(at Stores, readOnly bool) error {
	if err := d.lock(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectLimit)
	defer cancel()
	meta, err := postgres.Open(ctx, at.Metadata, postgres.Options{ReadOnly: readOnly})
	if err != nil {
		return explainDatabase(err)
	}
	d.Metadata = meta
	d.closers = append(d.closers, meta.Close)
	if at.Blobs != "" || readOnly {
		return nil
	}
	nodes, err := NodesSeen(ctx, meta)
	host, _ := os.Hostname()                                                               // "" where it has none
	nodes = slices.DeleteFunc(nodes, func(n metadata.Node) bool { return n.Name == host }) // before it was killed
	if err == nil && len(nodes) > 0 {
		err = fmt.Errorf("%w: the files are in folders of this machine (%s), and another node works on the same database (%s): several nodes need "+
			"blobs = \"s3://...\"; if that node has ended without saying so, try again in a minute", ErrMixed, d.Path, nodes[0].Name)
	}
	return err
}

// NodesSeen returns the nodes that have lately said that they run on these metadata.
func NodesSeen(ctx context.Context, meta metadata.Store) (seen []metadata.Node, err error) {
	now := time.Now()
	err = meta.View(ctx, func(tx *metadata.Tx) error {
		for node, err := range tx.Nodes.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			if now.Sub(node.Seen.Time()) < recently {
				seen = append(seen, node)
			}
		}
		return nil
	})
	return seen, err
}

// lock keeps other processes out of a directory without a metadata file, until Close.
func (d *Dir) lock() error {
	file, err := os.OpenFile(filepath.Join(d.Path, LockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := blobs.Lock(file, true); err != nil {
		if errors.Is(err, blobs.ErrLocked) {
			err = fmt.Errorf("%w: %s, by %s; stop that first, or take another directory with --data", ErrInUse, d.Path, holder(d.Path))
		}
		return errors.Join(err, file.Close())
	}
	d.closers = append(d.closers, file.Close)
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
