//go:build !windows

package bolt

import "syscall"

// Errors of the operating system.
const (
	sysNoSpace  = syscall.ENOSPC
	sysQuota    = syscall.EDQUOT
	sysTooLong  = syscall.EFBIG
	sysReadOnly = syscall.EROFS
	sysNoFiles  = syscall.EMFILE
)
