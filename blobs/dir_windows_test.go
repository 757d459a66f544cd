package blobs_test

import (
	"io/fs"
	"syscall"
	"testing"
)

// noSpaceErrors is what the system says when the disk or a quota is full.
func noSpaceErrors() []error {
	return []error{syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)}
}

// unopenedErrors is what it says when there are too many open files.
func unopenedErrors() []error { return []error{syscall.Errno(4)} }

// readOnlyErrors is what it says when the volume is write-protected.
func readOnlyErrors() []error { return []error{syscall.Errno(19)} }

// plantModes does nothing: the permissions of a file come from its folder.
func plantModes(*testing.T, string, []byte) map[string]string { return nil }

func inode(fs.FileInfo) string { return "" }
