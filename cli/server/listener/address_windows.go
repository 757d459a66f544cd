package listener

import (
	"errors"
	"syscall"
)

// The errors of Windows if another process uses the port: WSAEADDRINUSE, or WSAEACCES for exclusive
// use.
const (
	wsaInUse  = syscall.Errno(10048)
	wsaAccess = syscall.Errno(10013)
)

// addressInUse reports whether an error of net.Listen means that another process uses the port.
func addressInUse(err error) bool { return errors.Is(err, wsaInUse) || errors.Is(err, wsaAccess) }
