//go:build unix

package listener

import (
	"errors"
	"syscall"
)

// addressInUse reports whether an error of net.Listen means that another process uses the port.
func addressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
