//go:build !linux

package blobs

import "io"

// dropPageCache does nothing: the system cannot be asked.
func dropPageCache(io.Reader) {}
