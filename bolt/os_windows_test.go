package bolt

import "golang.org/x/sys/windows"

// Errors of the operating system.
const (
	sysNoSpace  = windows.ERROR_DISK_FULL
	sysQuota    = windows.ERROR_DISK_QUOTA_EXCEEDED
	sysTooLong  = windows.ERROR_HANDLE_DISK_FULL
	sysReadOnly = windows.ERROR_WRITE_PROTECT
	sysNoFiles  = windows.ERROR_TOO_MANY_OPEN_FILES
)
