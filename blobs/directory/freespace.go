package directory

import "labshelf/blobs"

// FreeSpace asks the system how much space the file system of the store has left. The answer is of
// this moment: others write, too.
func (d *Store) FreeSpace() (blobs.FreeSpace, error) { return freeSpaceIn(d.tmp) }
