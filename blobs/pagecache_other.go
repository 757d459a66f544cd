//go:build !linux

package blobs

import "io"

// dropPageCache does nothing: this system has no such call.
func dropPageCache(io.Reader) {}
