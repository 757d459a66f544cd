//go:build !windows

package resumable_test

import "syscall"

// sysNoSpace is what the system says when the disk is full.
const sysNoSpace = syscall.ENOSPC
