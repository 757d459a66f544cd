//go:build !linux

package directory

import "os"

// newFile leaves writeback to the system, which offers no way to start it early.
func newFile(f *os.File, _ int64) File { return f }
