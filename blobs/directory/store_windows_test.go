package directory_test

import (
	"io/fs"
	"syscall"
	"testing"
)

// noSpaceErrors returns the system's errors if the disk or a quota is full.
func noSpaceErrors() []error {
	return []error{syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)}
}

// unopenedErrors returns the system's errors if too many files are open.
func unopenedErrors() []error { return []error{syscall.Errno(4)} }

// readOnlyErrors returns the system's errors if the volume is write-protected.
func readOnlyErrors() []error { return []error{syscall.Errno(19)} }

// plantModes does nothing: the permissions of a file come from its folder.
func plantModes(*testing.T, string, []byte) map[string]string { return nil }

func inode(fs.FileInfo) string { return "" }
