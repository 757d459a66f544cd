//go:build !mutant_nofilesync

package blobs

// syncFile puts a staged body on stable storage.
func syncFile(f File) error { return f.Sync() }
