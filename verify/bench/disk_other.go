//go:build !linux

package main

import "os"

// allocated returns the length of a file: only Linux reports the occupied bytes.
func allocated(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// evict does nothing: only Linux can drop a file from the page cache.
func evict(string) error { return nil }

// diskOperations returns 0: only Linux reports disk operations.
func diskOperations() (done, underWay int) { return 0, 0 }

// flush does nothing: not every system has a call for it.
func flush() {}
