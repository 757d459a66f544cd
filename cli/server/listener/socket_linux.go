package listener

import (
	"math"

	"golang.org/x/sys/unix"

	"labshelf/handlers"
)

var _ handlers.Conn = (*Conn)(nil)

// Unacknowledged implements [handlers.Conn].
func (c *Conn) Unacknowledged() (bytes int64, err error) {
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

// BufferUnsent implements [handlers.Conn].
func (c *Conn) BufferUnsent(unlimited bool) {
	bytes := maxUnsent
	if unlimited {
		bytes = math.MaxInt32 // then the buffer of the connection is the only limit
	}
	limitUnsent(c.TCPConn, bytes)
}
