package report

import (
	"io/fs"
)

// NotAFile is the error of an entry that is not a regular file; its value is the mode.
type NotAFile fs.FileMode

func (m NotAFile) Error() string { return "left out, since it is " + KindOf(fs.FileMode(m)) }

// otherKinds are the kinds of entries that are not regular files, in the order of reports.
var otherKinds = []struct {
	mode                     fs.FileMode
	kind, one, several, word string // the kind in sentences, in totals (singular, plural), and in --json
}{
	{fs.ModeSymlink, "a symbolic link", "symbolic link", "symbolic links", "symlink"},
	{fs.ModeNamedPipe, "a pipe", "pipe", "pipes", "pipe"},
	{fs.ModeSocket, "a socket", "socket", "sockets", "socket"},
	{fs.ModeDevice, "a device", "device", "devices", "device"},
	{fs.ModeIrregular, "not a regular file", "other entry", "other entries", "other"},
}

// kindIndex returns the index of a mode in otherKinds.
func kindIndex(mode fs.FileMode) int {
	for i, k := range otherKinds {
		if mode&k.mode != 0 {
			return i
		}
	}
	return len(otherKinds) - 1
}

// KindOf describes an entry that is not a regular file.
func KindOf(mode fs.FileMode) string { return otherKinds[kindIndex(mode)].kind }
