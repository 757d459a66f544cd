//go:build !mutant_nodirsync && !mutant_nofoldersync

package blobs

// syncFolder puts the names in the folder of a first byte on stable storage, and its own.
func (d *Dir) syncFolder(first byte) error {
	if err := d.syncWithin(first); err != nil {
		return err
	}
	return d.keepFolder(first)
}
