package blobs

// FreeSpace is what a file system has left for new files of this process.
type FreeSpace struct {
	Bytes int64
	Files int64 // inodes; -1: the file system has no fixed number of them
}

// FreeSpace asks the system how much space the file system of the store has left. The answer is of
// this moment: others write, too.
func (d *Dir) FreeSpace() (FreeSpace, error) { return freeSpaceIn(d.tmp) }
