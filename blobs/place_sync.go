//go:build !mutant_nodirsync

package blobs

// syncFolder puts the names in the folder of a first byte on stable storage.
func (d *Dir) syncFolder(first byte) error { return d.fs.SyncDir(d.folder(first)) }
