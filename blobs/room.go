package blobs

// Room is what a file system has left for new files of this process.
type Room struct {
	Bytes int64
	Files int64 // inodes; -1: the file system has no fixed number of them
}

// Room asks the system how much room the file system of the store has left. The answer is of this moment: others write, too.
func (d *Dir) Room() (Room, error) { return roomIn(d.tmp) }
