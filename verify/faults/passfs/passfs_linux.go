package passfs

import (
	"context"
	"errors"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// FS is a mounted file system.
type FS struct {
	server *fuse.Server
	mount  string

	mu   sync.Mutex // held while a call is carried out
	hook Hook
}

// Mount mounts the directory below at the directory mount. It requires root. The caller calls
// Unmount.
func Mount(below, mount string, hook Hook) (*FS, error) {
	f := &FS{mount: mount, hook: hook}
	var st syscall.Stat_t
	if err := syscall.Stat(below, &st); err != nil {
		return nil, err
	}
	tree := &fs.LoopbackRoot{Path: below, Dev: uint64(st.Dev)}
	root := &node{LoopbackNode: &fs.LoopbackNode{RootData: tree}, fs: f}
	tree.RootNode = root
	options := &fs.Options{}
	options.MountOptions = fuse.MountOptions{
		DirectMountStrict: true, DisableXAttrs: true, FsName: "passfs", Name: "passfs", MaxWrite: 1 << 20,
		DisabledCapabilities: fuse.CAP_PASSTHROUGH, // otherwise the kernel would write without calling the hook
	}
	server, err := fs.Mount(mount, root, options)
	f.server = server
	return f, err
}

// Use replaces the hook after the running call has ended.
func (f *FS) Use(hook Hook) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
}

// Unmount ends the file system, even if a process still has open files on it. Calls of such a
// process fail from then on.
func (f *FS) Unmount() error {
	err := f.server.Unmount()
	if errors.Is(err, syscall.EBUSY) {
		err = syscall.Unmount(f.mount, syscall.MNT_DETACH)
	}
	return err
}

func (f *FS) call(c *Call, do func() syscall.Errno) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hook(c, do)
}

// node is a file or a directory.
type node struct {
	*fs.LoopbackNode
	fs *FS
}

var (
	_ fs.NodeWrapChilder    = (*node)(nil)
	_ fs.NodeCreater        = (*node)(nil)
	_ fs.NodeWriter         = (*node)(nil)
	_ fs.NodeFsyncer        = (*node)(nil)
	_ fs.NodeSetattrer      = (*node)(nil)
	_ fs.NodeMkdirer        = (*node)(nil)
	_ fs.NodeRmdirer        = (*node)(nil)
	_ fs.NodeRenamer        = (*node)(nil)
	_ fs.NodeLinker         = (*node)(nil)
	_ fs.NodeUnlinker       = (*node)(nil)
	_ fs.NodeMknoder        = (*node)(nil)
	_ fs.NodeSymlinker      = (*node)(nil)
	_ fs.NodeCopyFileRanger = (*node)(nil)
	_ fs.NodeAllocater      = (*node)(nil)
	_ fs.NodeOpendirHandler = (*node)(nil)
	_ fs.FileFsyncdirer     = (*dirHandle)(nil)
	_ fs.FileReaddirenter   = (*dirHandle)(nil)
	_ fs.FileSeekdirer      = (*dirHandle)(nil)
	_ fs.FileReleasedirer   = (*dirHandle)(nil)
)

// WrapChild implements fs.NodeWrapChilder.
func (n *node) WrapChild(_ context.Context, below fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{LoopbackNode: below.(*fs.LoopbackNode), fs: n.fs}
}

func (n *node) path() string { return n.Path(n.RootData.RootNode.EmbeddedInode()) }

func (n *node) child(name string) string {
	if dir := n.path(); dir != "" {
		return dir + "/" + name
	}
	return name
}

// file returns a number that is unique among the existing files below.
func (n *node) file() uint64 { return n.StableAttr().Ino }

// Create implements fs.NodeCreater.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (made *fs.Inode, h fs.FileHandle, _ uint32, errno syscall.Errno) {
	c := &Call{Kind: Create, Path: n.child(name)}
	errno = n.fs.call(c, func() (errno syscall.Errno) {
		made, h, _, errno = n.LoopbackNode.Create(ctx, name, flags, mode, out)
		if errno == 0 {
			c.File = made.StableAttr().Ino
		}
		return errno
	})
	if errno != 0 && h != nil {
		_ = h.(fs.FileReleaser).Release(ctx) // the caller gets the error of the hook
		h = nil
	}
	return made, h, 0, errno
}

// Write implements fs.NodeWriter.
func (n *node) Write(ctx context.Context, h fs.FileHandle, data []byte, offset int64) (written uint32, errno syscall.Errno) {
	c := &Call{Kind: Write, Path: n.path(), File: n.file(), Offset: offset, Data: data}
	errno = n.fs.call(c, func() (errno syscall.Errno) {
		written, errno = h.(fs.FileWriter).Write(ctx, c.Data, offset)
		return errno
	})
	if errno != 0 {
		written = 0
	}
	return written, errno
}

// Fsync implements fs.NodeFsyncer, for files.
func (n *node) Fsync(ctx context.Context, h fs.FileHandle, flags uint32) syscall.Errno {
	return n.fs.call(&Call{Kind: Sync, Path: n.path(), File: n.file()}, func() syscall.Errno {
		return h.(fs.FileFsyncer).Fsync(ctx, flags)
	})
}

// Setattr implements fs.NodeSetattrer.
func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	c := &Call{Kind: Attr, Path: n.path(), File: n.file()}
	if size, ok := in.GetSize(); ok {
		c.Kind, c.Size = Truncate, int64(size)
	}
	return n.fs.call(c, func() syscall.Errno { return n.LoopbackNode.Setattr(ctx, h, in, out) })
}

// Mkdir implements fs.NodeMkdirer.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (made *fs.Inode, errno syscall.Errno) {
	errno = n.fs.call(&Call{Kind: Mkdir, Path: n.child(name)}, func() (errno syscall.Errno) {
		made, errno = n.LoopbackNode.Mkdir(ctx, name, mode, out)
		return errno
	})
	return made, errno
}

// Rmdir implements fs.NodeRmdirer.
func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.fs.call(&Call{Kind: Rmdir, Path: n.child(name)}, func() syscall.Errno { return n.LoopbackNode.Rmdir(ctx, name) })
}

// Unlink implements fs.NodeUnlinker.
func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.fs.call(&Call{Kind: Unlink, Path: n.child(name)}, func() syscall.Errno { return n.LoopbackNode.Unlink(ctx, name) })
}

// Rename implements fs.NodeRenamer.
func (n *node) Rename(ctx context.Context, name string, into fs.InodeEmbedder, to string, flags uint32) syscall.Errno {
	c := &Call{Kind: Rename, Path: n.child(name), To: into.(*node).child(to)}
	return n.fs.call(c, func() syscall.Errno { return n.LoopbackNode.Rename(ctx, name, into, to, flags) })
}

// Link implements fs.NodeLinker.
func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (made *fs.Inode, errno syscall.Errno) {
	c := &Call{Kind: Link, Path: target.(*node).path(), To: n.child(name)}
	errno = n.fs.call(c, func() (errno syscall.Errno) {
		made, errno = n.LoopbackNode.Link(ctx, target, name, out)
		return errno
	})
	return made, errno
}

// Mknod implements fs.NodeMknoder. It fails: only files and directories are supported.
func (n *node) Mknod(context.Context, string, uint32, uint32, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

// Symlink implements fs.NodeSymlinker, like Mknod.
func (n *node) Symlink(context.Context, string, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}

// CopyFileRange implements fs.NodeCopyFileRanger. It fails, so that the caller reads and writes
// instead, and the hook receives the data.
func (n *node) CopyFileRange(context.Context, fs.FileHandle, uint64, *fs.Inode, fs.FileHandle, uint64, uint64, uint64) (uint32, syscall.Errno) {
	return 0, syscall.EOPNOTSUPP
}

// Allocate implements fs.NodeAllocater. It fails: no test needs it.
func (n *node) Allocate(context.Context, fs.FileHandle, uint64, uint64, uint32) syscall.Errno {
	return syscall.EOPNOTSUPP
}

// OpendirHandle implements fs.NodeOpendirHandler.
func (n *node) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, _, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return &dirHandle{node: n, below: h}, 0, 0
}

// dirHandle is an open directory.
type dirHandle struct {
	node  *node
	below fs.FileHandle
}

// Fsyncdir implements fs.FileFsyncdirer.
func (h *dirHandle) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	return h.node.fs.call(&Call{Kind: SyncDir, Path: h.node.path()}, func() syscall.Errno {
		return h.below.(fs.FileFsyncdirer).Fsyncdir(ctx, flags)
	})
}

// Readdirent implements fs.FileReaddirenter.
func (h *dirHandle) Readdirent(ctx context.Context) (*fuse.DirEntry, syscall.Errno) {
	return h.below.(fs.FileReaddirenter).Readdirent(ctx)
}

// Seekdir implements fs.FileSeekdirer.
func (h *dirHandle) Seekdir(ctx context.Context, offset uint64) syscall.Errno {
	return h.below.(fs.FileSeekdirer).Seekdir(ctx, offset)
}

// Releasedir implements fs.FileReleasedirer.
func (h *dirHandle) Releasedir(ctx context.Context, flags uint32) {
	h.below.(fs.FileReleasedirer).Releasedir(ctx, flags)
}
