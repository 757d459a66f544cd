//go:build !mutant_movesync

package blobs

// syncNamed puts the names that PlaceAll has given in the folder of a first byte on stable storage.
func (d *Dir) syncNamed(first byte) error { return d.syncFolder(first) }
