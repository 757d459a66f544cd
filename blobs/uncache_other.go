//go:build !linux

package blobs

import "io"

// uncache does nothing where there is no way to ask for it.
func uncache(io.Reader) {}
