package cli

import (
	"math"

	"golang.org/x/sys/unix"

	"labshelf/handlers"
)

var _ handlers.Line = (*admitted)(nil)

// Untaken implements [handlers.Line].
func (c *admitted) Untaken() (bytes int64, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var queued int
	controlled := raw.Control(func(fd uintptr) { queued, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	if controlled != nil {
		err = controlled
	}
	return int64(queued), err
}

// HoldBack implements [handlers.Line].
func (c *admitted) HoldBack(much bool) {
	bytes := maxUnsent
	if much {
		bytes = math.MaxInt32 // then the buffer of the connection is the limit
	}
	holdBack(c.TCPConn, bytes)
}
