package directory_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
)

func TestOneDevice(t *testing.T) {
	t.Parallel()
	if err := directory.OneDevice("/", "/proc"); err == nil {
		t.Error("/ and /proc were treated as one file system")
	}
	if err := directory.OneDevice("/proc", "/proc/self"); err != nil {
		t.Error(err)
	}
}

// TestSyncDirSyncs uses a file system that refuses to sync directories. The error shows that
// SyncDir has tried.
func TestSyncDirSyncs(t *testing.T) {
	t.Parallel()
	if err := (directory.OS{}).SyncDir("/proc"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v, want EINVAL", err)
	}
}

// mountedEnv passes the data directory to the child of TestTwoDevices.
const mountedEnv = "BLOBS_TEST_MOUNTED"

// TestTwoDevices opens a data directory with another file system mounted at tmp/. A child mounts it
// in its own namespaces, so that no privilege is required and the mount ends with the child.
func TestTwoDevices(t *testing.T) {
	if data := os.Getenv(mountedEnv); data != "" {
		openMounted(t, data)
		return
	}
	t.Parallel()
	data := blobstest.DataDir(t)
	openDir(t, data, directory.OS{})
	child := exec.Command(os.Args[0], "-test.run=^TestTwoDevices$", "-test.v")
	child.Env = append(os.Environ(), mountedEnv+"="+data)
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := child.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || strings.Contains(string(out), "--- SKIP") {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI needs a namespace with a mount for this test: %v\n%s", err, out)
		}
		t.Skipf("this system allows no namespace with a mount: %v\n%s", err, out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func openMounted(t *testing.T, data string) {
	t.Helper()
	if err := syscall.Mount("none", filepath.Join(data, "tmp"), "tmpfs", 0, ""); err != nil {
		t.Skip("mount:", err)
	}
	if _, err := directory.Open(data, directory.OS{}); err == nil {
		t.Error("a tmp/ on another file system was accepted")
	}
}

// TestIrregular tests that if the entry with the name of a blob cannot be opened, or is not a
// regular file, an upload replaces it.
func TestIrregular(t *testing.T) {
	t.Parallel()
	plants := map[string]func(path string) error{
		"socket":       func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) },
		"folder":       func(path string) error { return os.Mkdir(path, 0o700) },
		"link to self": func(path string) error { return os.Symlink(path, path) },
	}
	for name, plant := range plants {
		data, content := blobstest.DataDir(t), blobstest.Content(1000)
		dir := openDir(t, data, directory.OS{})
		if err := plant(blobPath(data, content)); err != nil {
			t.Fatal(name, err)
		}
		if err := get(dir, content); !errors.Is(err, blobs.ErrDamaged) {
			t.Errorf("%s: Open: got %v, want ErrDamaged", name, err)
		}
		if err := errors.Join(put(dir, content), get(dir, content)); err != nil {
			t.Errorf("%s: an upload did not replace the entry: %v", name, err)
		}
	}
}

func forgetAccess(stat *syscall.Stat_t) { stat.Atim = syscall.Timespec{} }

// descriptorsEnv marks the child of TestNoDescriptors.
const descriptorsEnv = "BLOBS_TEST_DESCRIPTORS"

// TestNoDescriptors uses a store while no more files can be opened. It runs in a child process,
// because the limit applies to a process.
func TestNoDescriptors(t *testing.T) {
	if data := os.Getenv(descriptorsEnv); data != "" {
		useWithoutDescriptors(t, data)
		return
	}
	t.Parallel()
	data := blobstest.DataDir(t)
	child := exec.Command(os.Args[0], "-test.run=^TestNoDescriptors$")
	child.Env = append(os.Environ(), descriptorsEnv+"="+data)
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func useWithoutDescriptors(t *testing.T, data string) {
	t.Helper()
	dir := openDir(t, data, directory.OS{})
	here, other := blobstest.Content(1000), blobstest.Content(1001)
	staged, err := dir.Stage(t.Context(), bytes.NewReader(other), 0)
	if err := errors.Join(err, put(dir, here)); err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := syscall.Rlimit{Cur: 0, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	tries := map[string]error{
		"Open": get(dir, here), "Verify": verify(t, dir, here), "Stage": put(dir, here), "Place": commit(staged),
		"Remove": dir.Remove(digestOf(here), nil), "Walk": dir.Walk(t.Context(), func(blobs.Digest, int64) error { return nil }),
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for name, err := range tries {
		if !errors.Is(err, blobs.ErrUnavailable) || errors.Is(err, blobs.ErrUnsynced) || errors.Is(err, blobs.ErrDamaged) {
			t.Errorf("%s: got %v, want only ErrUnavailable", name, err)
		}
	}
	if err := errors.Join(commit(staged), get(dir, other), put(dir, here), verify(t, dir, here)); err != nil {
		t.Errorf("with descriptors again: %v", err)
	}
	checkSound(t, data)
}

// TestVerifyPastCache tests that a verified blob does not stay in memory. The next verification
// must read it from the disk, too.
func TestVerifyPastCache(t *testing.T) {
	t.Parallel()
	data := onDisk(t)
	dir := openDir(t, data, directory.OS{})
	content := blobstest.Content(1 << 20)
	if err := errors.Join(put(dir, content), get(dir, content)); err != nil {
		t.Fatal(err)
	}
	if got := cached(t, blobPath(data, content)); got == 0 {
		t.Fatal("nothing that was just read is in memory, so the test proves nothing")
	}
	if err := verify(t, dir, content); err != nil {
		t.Error(err)
	}
	if got := cached(t, blobPath(data, content)); got > 0 {
		t.Errorf("%d pages are in memory after Verify", got)
	}
}

// onDisk returns a data directory that is not in memory.
func onDisk(t *testing.T) string {
	t.Helper()
	const tmpfs = 0x01021994
	for _, parent := range []string{os.TempDir(), "/var/tmp", "."} {
		var fs syscall.Statfs_t
		if err := syscall.Statfs(parent, &fs); err != nil || fs.Type == tmpfs {
			continue
		}
		data, err := os.MkdirTemp(parent, ".blobs-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(data); err != nil {
				t.Error(err)
			}
		})
		return data
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("CI needs a directory on a disk for this test")
	}
	t.Skip("every directory that can be written to is in memory")
	return ""
}

// cached returns the number of a file's pages in memory.
func cached(t *testing.T, path string) (pages int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	in := make([]byte, (len(mapped)+os.Getpagesize()-1)/os.Getpagesize())
	_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(&mapped[0])), uintptr(len(mapped)), uintptr(unsafe.Pointer(&in[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	for _, page := range in {
		pages += int(page & 1)
	}
	if err := errors.Join(syscall.Munmap(mapped), f.Close()); err != nil {
		t.Fatal(err)
	}
	return pages
}
