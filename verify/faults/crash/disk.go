// Package crash computes the possible states of a disk after a power failure. Its input is a
// recording of all calls that changed or synced something, and the number of calls before the
// failure. Synced data are on the disk. Each other change may have reached the disk or not,
// independently of the others. Writes to files and names in directories are independent, and a
// write may be torn. A rename from one directory to another may have created the new name without
// removing the old one, or the other way round.
package crash

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"labshelf/verify/faults/passfs"
)

// Recording contains the calls of a process on a directory that was empty at first.
type Recording struct {
	Calls []passfs.Call // successful calls, in order
	Acks  []int         // for each call: the number of operations acknowledged before it
	Total int           // total number of acknowledged operations
}

// Acked returns the number of acknowledged operations after the given number of calls.
func (r *Recording) Acked(calls int) int {
	if calls == len(r.Calls) {
		return r.Total
	}
	return r.Acks[calls]
}

// file is a file with any number of names.
type file struct {
	data    []byte // durable data
	pending []*change
}

// dir is one directory. Directories are never renamed.
type dir struct {
	path  string
	names map[string]any // *file or *dir: durable names
	now   map[string]any // names as the process sees them
}

// change is a change that may or may not have reached the disk.
type change struct {
	file   *file // for a change of data; nil for a change of names
	data   []byte
	offset int64
	resize bool // change the size to offset, without data

	dir     *dir
	names   map[string]any // new entry by name; nil: removed
	durable bool
}

// disk is the simulated disk.
type disk struct {
	root    *dir
	files   map[uint64]*file
	pending []*change // in order
}

func newDir(path string) *dir {
	return &dir{path: path, names: map[string]any{}, now: map[string]any{}}
}

func newDisk() *disk { return &disk{root: newDir(""), files: map[uint64]*file{}} }

// after returns the disk after the given number of calls.
func (r *Recording) after(calls int) (*disk, error) {
	d := newDisk()
	for n := range calls {
		if err := r.step(d, n); err != nil {
			return nil, err
		}
	}
	d.settle()
	return d, nil
}

// step applies the nth call to a disk to which all earlier calls were applied.
func (r *Recording) step(d *disk, n int) error {
	c := &r.Calls[n]
	if err := d.follow(c); err != nil {
		return fmt.Errorf("call %d, %s %s: %w", n, c.Kind, c.Path, err)
	}
	return nil
}

// settle removes durable changes from the pending ones.
func (d *disk) settle() {
	d.pending = slices.DeleteFunc(d.pending, func(c *change) bool { return c.durable })
}

func (d *disk) follow(c *passfs.Call) error {
	switch c.Kind {
	case passfs.Write, passfs.Truncate, passfs.Sync:
		return d.followData(c)
	case passfs.Attr:
		return nil // modes and times are not compared
	case passfs.SyncDir:
		return d.syncDir(c.Path)
	}
	return d.followNames(c)
}

func (d *disk) followData(c *passfs.Call) error {
	f, ok := d.files[c.File]
	if !ok {
		return fmt.Errorf("file %d was never created", c.File)
	}
	switch c.Kind {
	case passfs.Sync:
		for _, change := range f.pending {
			change.apply(change.data)
			change.durable = true
		}
		f.pending = nil
		return nil
	case passfs.Truncate:
		d.add(&change{file: f, offset: c.Size, resize: true})
	default:
		d.add(&change{file: f, offset: c.Offset, data: c.Data})
	}
	return nil
}

func (d *disk) add(c *change) {
	d.pending = append(d.pending, c)
	if c.file != nil {
		c.file.pending = append(c.file.pending, c)
	}
}

// apply writes data, a prefix of the change's data, to the file.
func (c *change) apply(data []byte) {
	f := c.file
	if c.resize {
		f.extend(c.offset)
		f.data = f.data[:c.offset]
		return
	}
	f.extend(c.offset + int64(len(data)))
	copy(f.data[c.offset:], data)
}

func (f *file) extend(size int64) {
	if more := size - int64(len(f.data)); more > 0 {
		f.data = append(f.data, bytes.Repeat([]byte{0}, int(more))...)
	}
}

// find returns the directory of a path, and the last element of the path.
func (d *disk) find(name string) (in *dir, base string, err error) {
	parent, base := path.Split(name)
	in, err = d.dirAt(path.Clean("/" + parent))
	return in, base, err
}

// dirAt returns the directory at a path that begins with a slash.
func (d *disk) dirAt(name string) (*dir, error) {
	if name == "/" {
		return d.root, nil
	}
	in, err := d.dirAt(path.Dir(name))
	if err != nil {
		return nil, err
	}
	found, ok := in.now[path.Base(name)].(*dir)
	if !ok {
		return nil, fmt.Errorf("there is no directory %s", name)
	}
	return found, nil
}

func (d *disk) syncDir(name string) error {
	synced, err := d.dirAt(path.Clean("/" + name))
	if err != nil {
		return err
	}
	for _, c := range d.pending {
		if c.dir == synced && !c.durable {
			c.name()
			c.durable = true
		}
	}
	return nil
}

// name applies a change of names.
func (c *change) name() {
	for name, object := range c.names {
		if object == nil {
			delete(c.dir.names, name)
			continue
		}
		c.dir.names[name] = object
	}
}

func (d *disk) followNames(c *passfs.Call) error {
	in, base, err := d.find(c.Path)
	if err != nil {
		return err
	}
	switch c.Kind {
	case passfs.Create:
		f := &file{}
		d.files[c.File] = f
		d.rename(in, map[string]any{base: f})
	case passfs.Mkdir:
		d.rename(in, map[string]any{base: newDir(c.Path)})
	case passfs.Unlink, passfs.Rmdir:
		d.rename(in, map[string]any{base: nil})
	case passfs.Link, passfs.Rename:
		return d.followTo(c, in, base)
	default:
		return fmt.Errorf("unknown kind of call")
	}
	return nil
}

func (d *disk) followTo(c *passfs.Call, from *dir, base string) error {
	to, fresh, err := d.find(c.To)
	if err != nil {
		return err
	}
	object, ok := from.now[base].(*file)
	switch {
	case !ok:
		return fmt.Errorf("the source does not exist or is not a file")
	case c.Kind == passfs.Link:
		d.rename(to, map[string]any{fresh: object})
	case from == to:
		d.rename(to, map[string]any{base: nil, fresh: object})
	default:
		d.rename(to, map[string]any{fresh: object})
		d.rename(from, map[string]any{base: nil})
	}
	return nil
}

// rename changes names. The process sees the change immediately.
func (d *disk) rename(in *dir, names map[string]any) {
	for name, object := range names {
		if object == nil {
			delete(in.now, name)
			continue
		}
		in.now[name] = object
	}
	d.add(&change{dir: in, names: names})
}
