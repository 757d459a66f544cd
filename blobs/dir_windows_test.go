package blobs_test

import "syscall"

// noSpaceErrors is what the system says when the disk or a quota is full.
func noSpaceErrors() []error {
	return []error{syscall.Errno(39), syscall.Errno(112), syscall.Errno(1295)}
}
