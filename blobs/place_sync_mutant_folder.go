//go:build mutant_nofoldersync

package blobs

// syncFolder is wrong on purpose, to show that the tests notice: it leaves the name of a new folder to the kernel.
func (d *Dir) syncFolder(first byte) error { return d.syncWithin(first) }
