//go:build mutant_nofilesync

package blobs

// syncFile is wrong on purpose, to show that the tests notice: it leaves the body to the kernel.
func syncFile(File) error { return nil }
