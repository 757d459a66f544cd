//go:build !linux

package passfs

import (
	"errors"
	"fmt"
)

// FS is a mounted file system. This system does not support it.
type FS struct{}

// Mount needs Linux.
func Mount(string, string, Hook) (*FS, error) {
	return nil, fmt.Errorf("passfs: %w", errors.ErrUnsupported)
}

// Use has nothing to do.
func (*FS) Use(Hook) {}

// Unmount has nothing to do.
func (*FS) Unmount() error { return nil }
