package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"labshelf/auth/errs"
	"labshelf/verify/faults/passfs"
	"labshelf/verify/faults/script"
)

// injection is one way of making calls fail.
type injection struct {
	name   string
	errno  syscall.Errno
	at     []passfs.Kind // kinds of calls that can fail
	lasts  bool          // all later calls of these kinds fail, too, until an operation has failed twice
	drops  bool          // a failed sync loses the unsynced data, as in the kernel
	denies string        // the default error code of the answer
}

func injections() []injection {
	syncs := []passfs.Kind{passfs.Sync, passfs.SyncDir}
	grows := []passfs.Kind{passfs.Create, passfs.Write, passfs.Truncate, passfs.Mkdir, passfs.Link, passfs.Rename}
	changes := append(slices.Clone(grows), passfs.Unlink, passfs.Attr)
	return []injection{
		{name: "I/O error at a sync", errno: syscall.EIO, at: syncs, denies: string(errs.CodeReadOnly)},
		{name: "I/O error at a sync that loses data", errno: syscall.EIO, at: syncs[:1], drops: true, denies: string(errs.CodeReadOnly)},
		{name: "I/O error at a write", errno: syscall.EIO, at: []passfs.Kind{passfs.Write}, denies: string(errs.CodeInternal)},
		{name: "no space once", errno: syscall.ENOSPC, at: grows, denies: string(errs.CodeNoSpace)},
		{name: "no space for a while", errno: syscall.ENOSPC, at: grows, lasts: true, denies: string(errs.CodeNoSpace)},
		{name: "read-only for a while", errno: syscall.EROFS, at: changes, lasts: true, denies: string(errs.CodeUnavailable)},
	}
}

// hits reports whether the injection can make this call fail.
func (i injection) hits(c *passfs.Call) bool { return slices.Contains(i.at, c.Kind) }

// ioErrors makes each possible call of the script fail once, and checks the result against the
// policy. No acknowledged change is lost, reading works, and no temporary file remains. After a
// failed sync or commit the stores are read-only. After any other failure, writing continues as
// soon as possible.
func ioErrors(ctx context.Context, t *trial) error {
	return t.onScript(ctx, func(g *golden) error {
		var points []failure
		for _, in := range injections() {
			count := 0
			for n := range g.Calls {
				if n == g.creation {
					count = 0
				}
				if in.hits(&g.Calls[n]) {
					count++
					points = append(points, failure{injection: in, nth: count, late: n >= g.creation})
				}
			}
		}
		t.add("violations", 0)
		return t.together(ctx, len(points), func(unit int) error {
			point := points[t.spread(unit, len(points))]
			return point.try(ctx, filepath.Join(t.dir, fmt.Sprint(unit)), g)
		})
	})
}

// failure is one run of the script with failing calls.
type failure struct {
	injection
	late bool // the failure happens after the first creation
	nth  int  // number of the failing call among those that can fail, from 1, in the first creation or after it

	seen    int          // number of these calls so far
	over    bool         // no more calls fail
	hit     *passfs.Call // the first failed call
	op      int          // the operation of hit
	wrong   []string
	denied  int  // reported errors
	visible bool // the failed commit can be visible nevertheless
	acks    acks
	undo    map[uint64][]undone
}

// undone is the data that a write replaced.
type undone struct {
	offset, size int64
	data         []byte
}

// enough is the number of operations that must succeed after a failed one.
const enough = 3

func (f failure) try(ctx context.Context, dir string, g *golden) error {
	f.undo = map[uint64][]undone{}
	s, err := g.mountGolden(dir, f.late, f.call)
	if err != nil {
		return err
	}
	err = s.run(ctx, f.answer, childScript)
	if err = errors.Join(err, s.fs.Unmount()); err != nil {
		return err
	}
	if f.hit == nil {
		return os.RemoveAll(dir) // this run made fewer calls than the recorded run
	}
	left, err := script.Verify(ctx, s.below, g.expect(f.acks))
	if err != nil {
		return err
	}
	if wrong := append(f.wrong, left...); len(wrong) > 0 {
		name, _ := script.Operation(f.op)
		return violated(nil, "%s, the %dth (%s %s, in %q):\n  %s", f.name, f.nth, f.hit.Kind, f.hit.Path, name, strings.Join(wrong, "\n  "))
	}
	return os.RemoveAll(dir)
}

// call is the hook.
func (f *failure) call(s *mounted, c *passfs.Call, do func() syscall.Errno) syscall.Errno {
	if f.hits(c) {
		f.seen++
		if f.seen == f.nth || f.lasts && f.seen > f.nth && !f.over {
			return f.fail(s, c)
		}
	}
	if f.drops {
		f.remember(s, c)
	}
	return do()
}

func (f *failure) fail(s *mounted, c *passfs.Call) syscall.Errno {
	if f.hit == nil {
		hit := *c
		hit.Data = nil
		f.hit, f.op = &hit, f.acks.count
	}
	if f.drops {
		f.drop(s, c)
	}
	return f.errno
}

// remember stores the data that a write replaces until the file is synced.
func (f *failure) remember(s *mounted, c *passfs.Call) {
	switch c.Kind {
	case passfs.Sync:
		delete(f.undo, c.File)
	case passfs.Write, passfs.Truncate:
		u, err := replaced(filepath.Join(s.below, c.Path), c)
		if err != nil {
			f.wrong = append(f.wrong, err.Error())
			return
		}
		f.undo[c.File] = append(f.undo[c.File], u)
	}
}

// replaced returns the data that a call will replace.
func replaced(path string, c *passfs.Call) (u undone, err error) {
	file, err := os.Open(path)
	if err != nil {
		return u, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return u, err
	}
	u = undone{offset: c.Offset, size: info.Size(), data: make([]byte, len(c.Data))}
	n, err := file.ReadAt(u.data, c.Offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	u.data = u.data[:n]
	return u, err
}

// drop reverts the writes since the last sync.
func (f *failure) drop(s *mounted, c *passfs.Call) {
	path := filepath.Join(s.below, c.Path)
	for _, u := range slices.Backward(f.undo[c.File]) {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			_, err = file.WriteAt(u.data, u.offset)
			err = errors.Join(err, file.Truncate(u.size), file.Close())
		}
		if err != nil {
			f.wrong = append(f.wrong, err.Error())
		}
	}
	delete(f.undo, c.File)
}

// answer checks a report against the policy, and returns how the child continues.
func (f *failure) answer(r script.Report) string {
	f.acks.take(r)
	name, several := script.Operation(r.Op)
	if r.Unread != "" {
		f.complain(r, "some data cannot be read: %s", r.Unread)
	}
	if r.Temps > 0 && f.errno != syscall.EROFS { // EROFS prevents their removal
		f.complain(r, "%d temporary files remain", r.Temps)
	}
	if r.Code == "" {
		switch {
		case r.ReadOnly && f.denied == 1 && len(r.Changed)+len(r.Gone) == 0:
			return "" // it had nothing left to do
		case r.ReadOnly:
			f.complain(r, "%q succeeds, but the stores are read-only", name)
		}
		if f.hit != nil && r.Op >= f.op+enough {
			return "" // the stores have recovered
		}
		return script.Next
	}
	f.denied++
	if f.hit == nil {
		f.complain(r, "%q fails before any call was made to fail", name)
		return ""
	}
	// FUSE caches data that it could not write. So a commit can be visible after any error.
	f.visible = f.visible || r.Code == string(errs.CodeOutcomeUnknown) && f.hit.Path == script.MetaFile && f.hit.Offset < metaPages
	code, final := f.policy(r)
	if f.denied > 1 && final {
		code = string(errs.CodeReadOnly)
	}
	// After the first commit of several, a part of the operation is done, whatever the error.
	partly := several && r.Code == string(errs.CodeOutcomeUnknown)
	if code != r.Code && !partly && !(f.visible && f.lasts && r.Code == f.denies) { // the body of an upload is written first
		f.complain(r, "%q is answered with %s, want %s: %s", name, r.Code, code, r.Error)
	}
	if final != r.ReadOnly {
		f.complain(r, "%q leaves the stores read-only: %t, want %t", name, r.ReadOnly, final)
	}
	f.over = f.over || f.denied == 2
	if len(f.wrong) > 0 || f.denied > 3 || final && f.denied == 2 {
		return ""
	}
	return script.Again
}

func (f *failure) complain(r script.Report, format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf("operation %d, try %d: ", r.Op, f.denied)+fmt.Sprintf(format, args...))
}

// metaPages is the size of the two meta pages in bytes. They identify the last commit.
const metaPages = 8192

// policy returns the expected error code of the operation whose call failed. final reports whether
// the stores must be read-only from then on.
func (f *failure) policy(r script.Report) (code string, final bool) {
	opening := r.Code == script.Other && !r.ReadOnly
	snapshot := strings.HasPrefix(f.hit.Path, script.MetaFile+".snapshot-")
	switch sync := f.hit.Kind == passfs.Sync || f.hit.Kind == passfs.SyncDir; {
	case opening:
		return script.Other, false
	case f.visible:
		return string(errs.CodeOutcomeUnknown), true
	case snapshot:
		return r.Code, false
	case f.errno != syscall.EIO:
		return f.denies, false
	case f.hit.Path == script.MetaFile:
		return string(errs.CodeOutcomeUnknown), true
	default:
		return f.denies, sync
	}
}
