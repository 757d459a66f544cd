//go:build mutant_nodirsync

package blobs

// syncFolder is wrong on purpose, to show that the tests notice: it leaves the names of placed blobs to the kernel.
func (d *Dir) syncFolder(byte) error { return nil }
