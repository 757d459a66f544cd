package cli

import (
	"errors"
	"syscall"
)

// What Windows says when somebody else has the port: WSAEADDRINUSE, or WSAEACCES if he wants it for himself alone.
const (
	wsaInUse  = syscall.Errno(10048)
	wsaAccess = syscall.Errno(10013)
)

// addressInUse tells whether an error of net.Listen says that somebody else has the port.
func addressInUse(err error) bool { return errors.Is(err, wsaInUse) || errors.Is(err, wsaAccess) }
