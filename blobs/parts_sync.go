//go:build !mutant_partsync

package blobs

// syncPart puts what has come of a body on stable storage.
func syncPart(f File) error { return syncBody("sync a part", f) }
