//go:build !linux

package passfs

import (
	"errors"
	"fmt"
)

// FS is a mounted file system, which this system does not support.
type FS struct{}

// Mount fails, because it needs Linux.
func Mount(string, string, Hook) (*FS, error) {
	return nil, fmt.Errorf("passfs: %w", errors.ErrUnsupported)
}

// Use does nothing.
func (*FS) Use(Hook) {}

// Unmount does nothing.
func (*FS) Unmount() error { return nil }
