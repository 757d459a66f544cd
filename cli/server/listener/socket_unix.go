//go:build linux || darwin

package listener

import (
	"net"

	"golang.org/x/sys/unix"
)

// descriptors returns how many files and connections this process may open, 0 if unknown.
func descriptors() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}

// limitUnsent bounds the bytes that the system buffers unsent for a connection. If the system
// refuses, the service only notices slow clients later.
func limitUnsent(conn *net.TCPConn, bytes int) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return // already closed
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
	})
}
