package blobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
)

// PlaceAll implements [Writer]. The folders come last, each once. By then the syncs of later files have mostly taken the names of
// earlier ones along, so that what is left to do for a folder is little.
func (d *Dir) PlaceAll(bodies iter.Seq[[]byte]) error {
	var named [256]bool // folders in which a name was given
	for body := range bodies {
		first, err := d.name(body)
		if err != nil {
			return err
		}
		named[first] = true
	}
	for first := range named {
		if !named[first] {
			continue
		}
		if err := d.syncNamed(byte(first)); err != nil {
			return unsynced(fmt.Sprintf("place blobs in folder %02x", first), err)
		}
	}
	return nil
}

// name writes and syncs the file of a body and gives it its final name, in the folder of the first byte that it returns.
func (d *Dir) name(body []byte) (first byte, err error) {
	kept, err := d.Stage(context.Background(), bytes.NewReader(body), 0)
	if err != nil {
		return 0, err
	}
	s := kept.(*staged)
	if err := s.rename(); err != nil {
		return 0, errors.Join(err, s.Discard())
	}
	return s.digest[0], nil
}

// syncFolder puts the names in the folder of a first byte on stable storage, and its own.
func (d *Dir) syncFolder(first byte) error {
	if err := d.syncWithin(first); err != nil {
		return err
	}
	return d.keepFolder(first)
}

// syncNamed puts the names that PlaceAll has given in the folder of a first byte on stable storage.
func (d *Dir) syncNamed(first byte) error { return d.syncFolder(first) }
