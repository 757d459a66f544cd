package listener

import (
	"errors"
	"syscall"
)

// What Windows reports when another process has the port: WSAEADDRINUSE, or WSAEACCES if that wants
// it exclusively.
const (
	wsaInUse  = syscall.Errno(10048)
	wsaAccess = syscall.Errno(10013)
)

// addressInUse reports whether an error of net.Listen means that another process has the port.
func addressInUse(err error) bool { return errors.Is(err, wsaInUse) || errors.Is(err, wsaAccess) }
