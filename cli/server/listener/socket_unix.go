//go:build linux || darwin

package listener

import (
	"net"

	"golang.org/x/sys/unix"
)

// descriptors is how many files and connections this process may have open; 0 where that cannot be
// known.
func descriptors() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}

// limitUnsent bounds how many bytes the system buffers unsent for a connection. Where the system
// refuses, slow clients are noticed later, and nothing else is lost.
func limitUnsent(conn *net.TCPConn, bytes int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return // it is closed already
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}
