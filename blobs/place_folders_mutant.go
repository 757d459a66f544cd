//go:build mutant_movesync

package blobs

// syncNamed is wrong on purpose, to show that the tests notice: it leaves the names that PlaceAll has given to the kernel.
func (d *Dir) syncNamed(byte) error { return nil }
