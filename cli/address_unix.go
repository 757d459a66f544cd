//go:build unix

package cli

import (
	"errors"
	"syscall"
)

// addressInUse tells whether an error of net.Listen says that somebody else has the port.
func addressInUse(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
