// Package passfs is a FUSE file system that passes every call to a directory. It passes the calls
// that change or sync something to a hook, one at a time, with their data, before they are carried
// out. The hook decides whether they are carried out. So a test can kill a process that uses the
// mount, or make its disk fail, at each call.
//
// The process that serves the mount must not use it: a page fault on the mount would wait for the
// process itself.
package passfs

import "syscall"

// Kind of a call.
type Kind string

// The kinds. Create creates a file, Truncate sets any length, Attr sets the mode or times.
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
	File   uint64 // the number of the file for Create, Write, Truncate and Sync, independent of its name; for Create, set after the call
	Offset int64  // for Write
	Size   int64  // for Truncate
	Data   []byte // for Write; valid until the hook returns
}

// Hook is called for each call, one at a time, and returns the result for the caller. do carries
// out the call; a hook may omit it.
type Hook func(c *Call, do func() syscall.Errno) syscall.Errno
