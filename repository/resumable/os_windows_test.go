package resumable_test

import "golang.org/x/sys/windows"

// sysNoSpace is the error of the system if the disk is full.
const sysNoSpace = windows.ERROR_DISK_FULL
