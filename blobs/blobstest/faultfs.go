package blobstest

import (
	"slices"
	"sync"
	"time"

	"labshelf/blobs/directory"
)

// Op names a call of [directory.FS] or [directory.File].
type Op string

// The operations that a FaultFS records and can fail. Any stands for all of them in a Fault.
const (
	Any     Op = ""
	Create  Op = "create"
	Reopen  Op = "reopen"
	Write   Op = "write"
	Sync    Op = "sync"
	Close   Op = "close"
	Mkdir   Op = "mkdir"
	Touch   Op = "touch"
	Link    Op = "link"
	Rename  Op = "rename"
	Remove  Op = "remove"
	SyncDir Op = "syncdir"
)

// Fault defines which calls fail, and how.
type Fault struct {
	Op     Op    // operation of the counted calls
	N      int   // the first failing call, counted from 1 since Arm
	Sticky bool  // later calls fail too
	Err    error // error of the failing calls
}

// Call is one recorded call.
type Call struct {
	Op   Op
	Path string
	To   string // the new name, for Rename
	Err  error  // the returned error
}

// FaultFS forwards every call to another file system, records it, and makes chosen calls fail
// instead. A failing call has no effect, with two exceptions: a Write writes the first half, as on
// a disk that becomes full, and a Close closes the file. It may be used concurrently.
type FaultFS struct {
	fs     directory.FS
	mu     sync.Mutex
	faults []Fault
	seen   []int // for each fault, the number of counted calls
	calls  []Call
}

var _ directory.FS = (*FaultFS)(nil)

// NewFaultFS returns a FaultFS over fs in which nothing fails yet.
func NewFaultFS(fs directory.FS) *FaultFS { return &FaultFS{fs: fs} }

// Arm discards the recorded calls and former faults, and sets new faults. If several apply to one
// call, the first one decides.
func (f *FaultFS) Arm(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults, f.seen, f.calls = slices.Clone(faults), make([]int, len(faults)), nil
}

// Calls returns the calls since Arm, in the order in which they ended.
func (f *FaultFS) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Create implements [directory.FS].
func (f *FaultFS) Create(path string) (directory.File, error) {
	var made directory.File
	err := f.do(Call{Op: Create, Path: path}, func() (err error) {
		made, err = f.fs.Create(path)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &faultFile{fs: f, file: made, path: path}, nil
}

// Reopen implements [directory.FS].
func (f *FaultFS) Reopen(path string, at int64) (directory.File, error) {
	var opened directory.File
	err := f.do(Call{Op: Reopen, Path: path}, func() (err error) {
		opened, err = f.fs.Reopen(path, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &faultFile{fs: f, file: opened, path: path}, nil
}

// Mkdir implements [directory.FS].
func (f *FaultFS) Mkdir(path string) error {
	return f.do(Call{Op: Mkdir, Path: path}, func() error { return f.fs.Mkdir(path) })
}

// Touch implements [directory.FS].
func (f *FaultFS) Touch(path string, at time.Time) error {
	return f.do(Call{Op: Touch, Path: path}, func() error { return f.fs.Touch(path, at) })
}

// Link implements [directory.FS].
func (f *FaultFS) Link(from, to string) error {
	return f.do(Call{Op: Link, Path: from, To: to}, func() error { return f.fs.Link(from, to) })
}

// Rename implements [directory.FS].
func (f *FaultFS) Rename(from, to string) error {
	return f.do(Call{Op: Rename, Path: from, To: to}, func() error { return f.fs.Rename(from, to) })
}

// Remove implements [directory.FS].
func (f *FaultFS) Remove(path string) error {
	return f.do(Call{Op: Remove, Path: path}, func() error { return f.fs.Remove(path) })
}

// SyncDir implements [directory.FS].
func (f *FaultFS) SyncDir(path string) error {
	return f.do(Call{Op: SyncDir, Path: path}, func() error { return f.fs.SyncDir(path) })
}

// do runs and records the call, or fails instead.
func (f *FaultFS) do(call Call, run func() error) error {
	call.Err = f.fault(call.Op)
	if call.Err == nil {
		call.Err = run()
	}
	f.record(call)
	return call.Err
}

func (f *FaultFS) record(call Call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
}

// fault counts a call and returns its injected error, or nil.
func (f *FaultFS) fault(op Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	for i, fault := range f.faults {
		if fault.Op != op && fault.Op != Any {
			continue
		}
		f.seen[i]++
		due := f.seen[i] == fault.N || fault.Sticky && f.seen[i] > fault.N
		if due && err == nil {
			err = fault.Err
		}
	}
	return err
}

type faultFile struct {
	fs   *FaultFS
	file directory.File
	path string
}

// Write implements [directory.File].
func (f *faultFile) Write(b []byte) (n int, err error) {
	err = f.fs.fault(Write)
	if err == nil {
		n, err = f.file.Write(b)
	} else {
		n, _ = f.file.Write(b[:len(b)/2]) // the injected error is reported
	}
	f.fs.record(Call{Op: Write, Path: f.path, Err: err})
	return n, err
}

// Sync implements [directory.File].
func (f *faultFile) Sync() error {
	return f.fs.do(Call{Op: Sync, Path: f.path}, f.file.Sync)
}

// Close implements [directory.File].
func (f *faultFile) Close() error {
	injected := f.fs.fault(Close)
	err := f.file.Close()
	if injected != nil {
		err = injected
	}
	f.fs.record(Call{Op: Close, Path: f.path, Err: err})
	return err
}
