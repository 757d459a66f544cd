//go:build !linux

package blobs

import "os"

// newFile leaves it to the system when it brings to the disk what is written, where it cannot be asked to begin early.
func newFile(f *os.File, _ int64) File { return f }
