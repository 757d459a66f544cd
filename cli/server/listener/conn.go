package listener

import (
	"errors"
	"net"
)

// Conn is a connection that counts towards the limit of its listener until it is closed. It embeds
// a TCPConn so that files are sent by sendfile.
type Conn struct {
	*net.TCPConn
	release  func()
	corked   bool // corked and buffered belong to the goroutine that writes
	buffered []byte
}

// Cork implements [handlers.Conn].
func (c *Conn) Cork(room []byte) { c.corked, c.buffered = true, room }

// Write sends p, or buffers it until Uncork while the connection is corked.
func (c *Conn) Write(p []byte) (int, error) {
	if !c.corked {
		return c.TCPConn.Write(p)
	}
	c.buffered = append(c.buffered, p...)
	return len(p), nil
}

// Uncork implements [handlers.Conn].
func (c *Conn) Uncork() (err error) {
	if _, err = c.TCPConn.Write(c.buffered); err != nil {
		err = errors.Join(err, c.Close())
	}
	c.corked, c.buffered = false, nil
	return err
}

// Close closes the connection and frees its slot.
func (c *Conn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
}
