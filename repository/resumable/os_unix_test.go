//go:build !windows

package resumable_test

import "syscall"

// sysNoSpace is the error of the system if the disk is full.
const sysNoSpace = syscall.ENOSPC
