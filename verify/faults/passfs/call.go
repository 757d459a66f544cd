// Package passfs is a file system that passes every call on to a directory, through FUSE, and shows
// those that change or sync something to a hook: in one order, with their data, before and after
// they are carried out. The hook decides what becomes of them. A process that works on the mount
// can so be stopped, and its disk made to fail, at each of its calls.
//
// The process that serves the mount must not use it: a page fault on it would wait for the process
// that it stops.
package passfs

import "syscall"

// Kind of a call.
type Kind string

// The kinds. Create is of a file, Truncate sets any length, Attr sets mode or times.
const (
	Create   Kind = "create"
	Write    Kind = "write"
	Truncate Kind = "truncate"
	Attr     Kind = "attr"
	Sync     Kind = "sync"
	Mkdir    Kind = "mkdir"
	Rmdir    Kind = "rmdir"
	Rename   Kind = "rename"
	Link     Kind = "link"
	Unlink   Kind = "unlink"
	SyncDir  Kind = "syncdir"
)

// Call is one call that changes or syncs something. Paths are relative to the root, with slashes;
// the root is "".
type Call struct {
	Kind   Kind
	Path   string // path of the changed file; for an open file without a name, some other path
	To     string // the new name of Rename and Link
	File   uint64 // which file Create, Write, Truncate and Sync are about, whatever its name; with Create known afterwards
	Offset int64  // of Write
	Size   int64  // of Truncate
	Data   []byte // of Write; valid until the hook returns
}

// Hook is called for each call, one at a time, and returns what its caller gets. do carries the
// call out; a hook need not call it.
type Hook func(c *Call, do func() syscall.Errno) syscall.Errno
