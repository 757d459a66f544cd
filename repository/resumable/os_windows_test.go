package resumable_test

import "golang.org/x/sys/windows"

// sysNoSpace is what the system says when the disk is full.
const sysNoSpace = windows.ERROR_DISK_FULL
