//go:build !linux && !darwin

package listener

import "net"

// descriptors returns 0: this system has no such limit, or does not report it.
func descriptors() uint64 { return 0 }

// limitUnsent does nothing: this system has no such setting.
func limitUnsent(*net.TCPConn, int) {}
