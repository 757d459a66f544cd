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
	"labshelf/blobs/directory"
	"labshelf/blobs/s3"
	"labshelf/bolt"
	"labshelf/cli/exit"
	"labshelf/metadata"
	"labshelf/postgres"
)

// Stores are the locations of the metadata and the files of a service. The zero value is the data
// directory.
type Stores struct {
	Metadata string // URL of a PostgreSQL database; "": MetadataFile
	Blobs    string // URL of a bucket and prefix in an S3; "": folders
	S3       s3.Options
}

// ErrMixed means that metadata and files do not belong together.
var ErrMixed = errors.New("the metadata and the files do not belong together")

// connectLimit bounds the time in which a database or an S3 must answer at the start.
const connectLimit = 30 * time.Second

// recently is the greatest age of a running node's last report.
const recently = time.Minute

// openMetadata opens the metadata. opts are the options of a file; a database uses the options that
// it supports.
func (d *Dir) openMetadata(options bolt.Options) error {
	if d.at.Metadata != "" {
		return d.openDatabase(options)
	}
	meta, err := bolt.Open(filepath.Join(d.Path, MetadataFile), options)
	if err != nil {
		return Explain(d.Path, err)
	}
	d.Metadata, d.file, d.now = meta, meta, time.Now
	d.closers = append(d.closers, meta.Close)
	return nil
}

// openDatabase opens metadata that several processes can share. A lock file excludes a second
// process from the directory.
func (d *Dir) openDatabase(options bolt.Options) error {
	if err := d.lock(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectLimit)
	defer cancel()
	meta, err := postgres.Open(ctx, d.at.Metadata, postgres.Options{ReadOnly: d.readOnly, Observe: options.Observe})
	if err != nil {
		return explainDatabase(err)
	}
	d.Metadata, d.now = meta, meta.Now
	d.closers = append(d.closers, meta.Close)
	if d.at.Blobs != "" || d.readOnly {
		return nil
	}
	nodes, err := d.nodesSeen(ctx)
	host, _ := os.Hostname()                                                               // "" if the machine has no host name
	nodes = slices.DeleteFunc(nodes, func(n metadata.Node) bool { return n.Name == host }) // its own entry, from before it was killed
	if err == nil && len(nodes) > 0 {
		err = fmt.Errorf("%w: the files are in folders of this machine (%s), and another node works on the same database (%s): several nodes require "+
			"blobs = \"s3://...\"; if that node was killed, try again in a minute", ErrMixed, d.Path, nodes[0].Name)
	}
	return err
}

// RefuseNodes returns an error if a node runs on the metadata.
func (d *Dir) RefuseNodes(ctx context.Context) error {
	nodes, err := d.nodesSeen(ctx)
	if err == nil && len(nodes) > 0 {
		err = fmt.Errorf("%w: the node %s runs, or was killed in the last minute; stop all nodes first, or try again in a minute", ErrInUse, nodes[0].Name)
	}
	return err
}

// nodesSeen returns the nodes that have recently reported that they run on these metadata.
func (d *Dir) nodesSeen(ctx context.Context) (seen []metadata.Node, err error) {
	now := d.now()
	err = d.Metadata.View(ctx, func(tx *metadata.Tx) error {
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

// lock excludes other processes from a directory without a metadata file, until Close.
func (d *Dir) lock() error {
	file, err := os.OpenFile(filepath.Join(d.Path, LockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	if err := directory.Lock(file, true); err != nil {
		if errors.Is(err, directory.ErrLocked) {
			err = fmt.Errorf("%w: %s, by %s; stop that process first, or use another directory with --data", ErrInUse, d.Path, holder(d.Path))
		}
		return errors.Join(err, file.Close())
	}
	d.closers = append(d.closers, file.Close)
	return nil
}

// openBlobs opens the blobs. It calls folder if they are in folders.
func (d *Dir) openBlobs(folder func() (*directory.Store, error)) error {
	if d.at.Blobs != "" {
		return d.openObjects()
	}
	store, err := folder()
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	d.Blobs, d.folder = store, store
	return nil
}

// openObjects opens the S3, and checks that its objects belong to this repository.
func (d *Dir) openObjects() error {
	ctx, cancel := context.WithTimeout(context.Background(), connectLimit)
	defer cancel()
	if err := d.refuseFolders(ctx); err != nil {
		return err
	}
	store, err := d.openS3(ctx, d.at)
	if err != nil {
		return err
	}
	d.Blobs = store
	d.closers = append(d.closers, func() error { store.Close(); return nil })
	if d.readOnly {
		return nil
	}
	return store.Claim(ctx, metadata.IdentityOf(d.Metadata.Secret()).String())
}

// refuseFolders returns an error if the metadata refer to files in folders, not to objects: all
// files would appear lost.
func (d *Dir) refuseFolders(ctx context.Context) error {
	const looked = 100 // some files may have been lost before the move
	seen, named := 0, false
	err := d.Metadata.View(ctx, func(tx *metadata.Tx) error {
		for blob, err := range tx.Blobs.All(blobs.Digest{}) {
			if err != nil || seen == looked {
				return err
			}
			seen++
			named = named || blob.Object != ""
		}
		return nil
	})
	if err == nil && seen > 0 && !named {
		err = exit.Usage(fmt.Errorf("%w: the files are not in %s yet, but in folders; move them there with \"labshelf migrate\", "+
			"or remove blobs from the configuration", ErrMixed, d.at.Blobs))
	}
	return err
}

// openS3 opens an S3, which dates its objects by the clock of the metadata. The caller closes it.
func (d *Dir) openS3(ctx context.Context, at Stores) (*s3.Store, error) {
	at.S3.Clock = metadata.ClockOf(d.Metadata, d.now)
	store, err := s3.Open(ctx, at.Blobs, at.S3)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; for details run \"labshelf doctor\"", at.Blobs, err)
	}
	return store, nil
}

// Upgraded returns what opening the metadata file has changed in it. It returns nil if nothing
// changed, or if the metadata are not a file.
func (d *Dir) Upgraded() *bolt.Upgrade {
	if d.file == nil {
		return nil
	}
	return d.file.Upgraded()
}

// ErrNoFile means that the metadata are not in a file.
var ErrNoFile = errors.New("the metadata are in a database")

// FileStats returns the state of the metadata file, or ErrNoFile.
func (d *Dir) FileStats() (bolt.Stats, error) {
	if d.file == nil {
		return bolt.Stats{}, ErrNoFile
	}
	return d.file.Stats()
}

// Room returns a function that reports the free space for files, or nil if the free space is
// unknown.
func (d *Dir) Room() func() (blobs.FreeSpace, error) {
	if d.folder == nil {
		return nil
	}
	return d.folder.FreeSpace
}
