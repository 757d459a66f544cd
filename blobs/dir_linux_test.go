package blobs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"labshelf/blobs"
	"labshelf/blobs/blobstest"
)

func TestOneDevice(t *testing.T) {
	t.Parallel()
	if err := blobs.OneDevice("/", "/proc"); err == nil {
		t.Error("/ and /proc were taken for one file system")
	}
	if err := blobs.OneDevice("/proc", "/proc/self"); err != nil {
		t.Error(err)
	}
}

// TestSyncDirSyncs uses a file system that refuses to sync its directories: only who tries gets to know that.
func TestSyncDirSyncs(t *testing.T) {
	t.Parallel()
	if err := (blobs.OS{}).SyncDir("/proc"); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v, want EINVAL", err)
	}
}

// mountedEnv tells the child of TestTwoDevices which data directory to try.
const mountedEnv = "BLOBS_TEST_MOUNTED"

// TestTwoDevices opens a data directory that has another file system mounted at tmp/. The mount is made by a child in
// namespaces of its own, so that it needs no privilege and is gone with the child.
func TestTwoDevices(t *testing.T) {
	if data := os.Getenv(mountedEnv); data != "" {
		openMounted(t, data)
		return
	}
	t.Parallel()
	data := blobstest.DataDir(t)
	openDir(t, data, blobs.OS{})
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
			t.Fatalf("CI needs a namespace with a mount for this: %v\n%s", err, out)
		}
		t.Skipf("no namespace with a mount to be had here: %v\n%s", err, out)
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
	if _, err := blobs.OpenDir(data, blobs.OS{}); err == nil {
		t.Error("a tmp/ on another file system was accepted")
	}
}
