//go:build !windows

package bolt

import "syscall"

// What the system says.
const (
	sysNoSpace  = syscall.ENOSPC
	sysQuota    = syscall.EDQUOT
	sysTooLong  = syscall.EFBIG
	sysReadOnly = syscall.EROFS
	sysNoFiles  = syscall.EMFILE
)
