//go:build unix

package testhome

import (
	"os"
	"strconv"
	"syscall"
)

// closeInherited keeps the descriptors that this process has inherited, beyond the standard ones,
// from the programs that tests start. A test may limit the descriptors of a program.
func closeInherited() {
	entries, _ := os.ReadDir("/dev/fd") // without it nothing is known
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
