//go:build unix

package testhome

import (
	"os"
	"strconv"
	"syscall"
)

// closeInherited hides inherited descriptors, except the standard ones, from the programs that
// tests start. Otherwise they would count when a test limits the descriptors of a program.
func closeInherited() {
	entries, _ := os.ReadDir("/dev/fd") // fails without /dev/fd; then the descriptors are unknown
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
