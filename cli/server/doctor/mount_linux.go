package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"labshelf/cli/display"
)

// Less free space than either of these gives a warning.
const (
	leastShare = 20      // one part in so many must be free
	leastBytes = 1 << 30 // bytes
)

// systemExaminations are the examinations that only some systems support.
func systemExaminations() []examination {
	return []examination{{"file system", fileSystem}, {"kernel", kernel}, {"space", space}}
}

// mount is a mounted file system.
type mount struct {
	point, kind, options string
}

// mountOf finds the file system of a path.
func mountOf(path string) (mount, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return mount{}, err
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return mount{}, err
	}
	m, ok := findMount(string(table), path)
	if !ok {
		return mount{}, fmt.Errorf("the file system of %s is unknown", path)
	}
	return m, nil
}

// findMount looks up a path in a table such as /proc/self/mountinfo. The deepest mount counts; if
// several have the same path, the last one.
func findMount(table, path string) (found mount, ok bool) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(table) {
		left, right, complete := strings.Cut(line, " - ")
		fields, source := strings.Fields(left), strings.Fields(right)
		if !complete || len(fields) < 6 || len(source) < 3 {
			continue
		}
		m := mount{unescape.Replace(fields[4]), source[0], fields[5] + "," + source[2]}
		within := path == m.point || strings.HasPrefix(path, strings.TrimSuffix(m.point, "/")+"/")
		if within && len(m.point) >= len(found.point) {
			found, ok = m, true
		}
	}
	return found, ok
}

// fileSystem names the file system and the known risks of its kind.
func fileSystem(w place) []Finding {
	m, err := mountOf(w.base)
	if err != nil {
		return []Finding{warning("", "the file system is unknown: %v", err)}
	}
	return judgeMount(m)
}

func judgeMount(m mount) []Finding {
	where := fmt.Sprintf("the file system at %s is %s", m.point, m.kind)
	found := []Finding{fine("%s", where)}
	for _, k := range kinds() {
		if k.kind == m.kind || strings.HasSuffix(k.kind, ".") && strings.HasPrefix(m.kind, k.kind) {
			found[0] = k.say(k.do, "%s: %s", where, k.why)
			break
		}
	}
	for option := range strings.SplitSeq(m.options, ",") {
		switch option {
		case "nobarrier", "barrier=0":
			found = append(found, problem("mount it without that option", "it is mounted with %s, so a power cut can damage it", option))
		case "ro":
			found = append(found, problem("mount it read-write; if the kernel has made it read-only, its log has the reason", "it is read-only"))
		}
	}
	return found
}

// kind is a kind of file system with known risks. A name that ends in a dot matches every name that
// begins with it.
type kind struct {
	kind string
	say  func(do, format string, args ...any) Finding
	why  string
	do   string
}

func kinds() []kind {
	const (
		share  = "a network share or a share of the host, on which locks and syncs may be unreliable"
		fuse   = "a program between the service and the disk handles files, perhaps without syncs or locks"
		memory = "its content is lost at the next restart of the machine"
		simple = "it has neither a journal nor permissions; a power cut can damage it"
	)
	var list []kind
	add := func(say func(string, string, ...any) Finding, why, do string, names ...string) {
		for _, name := range names {
			list = append(list, kind{name, say, why, do})
		}
	}
	add(warning, share, otherDisk, "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "ceph", "afs", "lustre", "glusterfs", "gfs2", "ocfs2",
		"beegfs", "gpfs", "coda", "ncpfs", "vboxsf", "fuse.sshfs", "fuse.glusterfs", "fuse.vmhgfs-fuse")
	add(warning, fuse, otherDisk, "fuse", "fuseblk", "fuse.")
	add(warning, "it is deleted with the container, and the first change of each file copies the file", "mount a volume there", "overlay", "aufs")
	add(warning, memory, "use a directory on a disk, except for trials", "tmpfs", "ramfs")
	add(problem, simple, otherDisk, "vfat", "msdos", "exfat")
	return list
}

// kernel checks for kernel versions that lose data on this file system.
func kernel(w place) []Finding {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return []Finding{warning("", "the kernel version is unknown: %v", err)}
	}
	m, err := mountOf(w.base)
	if err != nil {
		return nil // another examination reports this
	}
	return []Finding{judgeKernel(unix.ByteSliceToString(name.Release[:]), m.kind)}
}

// judgeKernel returns a finding about ext4's fast_commit, which came with 5.10 and lost synced data
// until it was fixed (etcd-io/bbolt#562).
func judgeKernel(release, kind string) Finding {
	var major, minor, patch int
	n, _ := fmt.Sscanf(release, "%d.%d.%d", &major, &minor, &patch) // a part that cannot be parsed stays 0
	version := major*1000 + minor
	bad := version == 5010 && patch < 94 || version > 5010 && version < 5015 || version == 5015 && patch < 27 || version == 5016
	switch {
	case n < 2:
		return warning("", "the kernel version %q cannot be parsed", release)
	case bad && kind == "ext4":
		return warning("use 5.10.94, 5.15.27, 5.17 or later (a distribution may have fixed an older one); or check with "+
			"tune2fs -l DEVICE that fast_commit is not among the features",
			"the kernel %s can lose synced data on ext4 with fast_commit", release)
	}
	return fine("the kernel %s has no known problem", release)
}

// space compares the free space with the needs of a service.
func space(w place) []Finding {
	var s unix.Statfs_t
	if err := unix.Statfs(w.base, &s); err != nil {
		return []Finding{warning("", "the free space is unknown: %v", err)}
	}
	return judgeSpace(s.Bavail*uint64(s.Bsize), s.Blocks*uint64(s.Bsize), s.Ffree, s.Files)
}

// judgeSpace gets free and total bytes, and free and total numbers of files. Some file systems
// report no numbers of files.
func judgeSpace(free, all, freeFiles, allFiles uint64) []Finding {
	found := []Finding{fine("%s of %s are free", display.Bytes(int64(free)), display.Bytes(int64(all)))}
	if free < leastBytes || free < all/leastShare {
		found[0] = warning("free some space; on a full disk the service rejects uploads", "only %s of %s are free",
			display.Bytes(int64(free)), display.Bytes(int64(all)))
	}
	if allFiles > 0 && freeFiles < allFiles/leastShare {
		found = append(found, warning("free some inodes: remove small files, or use a file system with more inodes",
			"only %d of %d files (inodes) are free", freeFiles, allFiles))
	}
	return found
}
