package passfs_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	_ "labshelf/internal/testhome"
	"labshelf/verify/faults/passfs"
)

// inChild names the environment variable for the folder of the child process.
const inChild = "PASSFS_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(inChild); dir != "" {
		if err := use(dir); err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// use makes each kind of call once, in order, after standard input has ended.
func use(dir string) error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	name := func(s string) string { return filepath.Join(dir, s) }
	steps := []func() error{
		func() error { return os.Mkdir(name("d"), 0o700) },
		func() error { return os.WriteFile(name("d/a"), []byte("hello"), 0o600) },
		func() error { return os.Chmod(name("d/a"), 0o640) },
		func() error { return os.Truncate(name("d/a"), 3) },
		func() error { return flush(name("d/a")) },
		func() error { return os.Link(name("d/a"), name("b")) },
		func() error { return os.Rename(name("d/a"), name("d/c")) },
		func() error { return os.Remove(name("d/c")) },
		func() error { return flush(name("d")) },
		func() error { return os.Remove(name("d")) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func flush(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// cannot skips a test that cannot run on this machine. In CI it fails the test.
func cannot(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// mount mounts a new directory and returns both paths. A test may use only below.
func mount(t *testing.T, hook passfs.Hook) (fs *passfs.FS, below, above string) {
	t.Helper()
	if os.Geteuid() != 0 {
		cannot(t, "mounting needs root")
	}
	below, above = t.TempDir(), t.TempDir()
	fs, err := passfs.Mount(below, above, hook)
	if err != nil {
		if _, missing := os.Stat("/dev/fuse"); missing != nil {
			cannot(t, "/dev/fuse does not exist")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fs.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return fs, below, above
}

func run(t *testing.T, above string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), inChild+"="+above)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// kinds lists the calls of use.
const kinds = "mkdir d,create d/a,write d/a,attr d/a,truncate d/a,sync d/a,link d/a b,rename d/a d/c,unlink d/c,syncdir d,rmdir d"

func line(c *passfs.Call) string {
	return strings.TrimSpace(string(c.Kind) + " " + c.Path + " " + c.To)
}

func TestSeesEveryCall(t *testing.T) {
	var calls []string
	var data string
	var files []uint64
	fs, below, above := mount(t, func(c *passfs.Call, do func() syscall.Errno) syscall.Errno {
		errno := do()
		calls, data = append(calls, line(c)), data+string(c.Data)
		if c.File != 0 {
			files = append(files, c.File)
		}
		return errno
	})
	if out, err := run(t, above); err != nil {
		t.Fatal(err, out)
	}
	fs.Use(nil) // waits for the last call
	if got := strings.Join(calls, ","); got != kinds {
		t.Errorf("got  %s\nwant %s", got, kinds)
	}
	if data != "hello" {
		t.Errorf("got data %q", data)
	}
	if files = slices.Compact(files); len(files) != 1 {
		t.Errorf("one file was used, got %v", files)
	}
	if got, err := os.ReadFile(filepath.Join(below, "b")); string(got) != "hel" || err != nil {
		t.Errorf("below is %q, %v", got, err)
	}
}

// TestFailsEveryCall fails each call in turn. The caller must get the error, and the call must have
// no effect.
func TestFailsEveryCall(t *testing.T) {
	for n, want := range strings.Split(kinds, ",") {
		t.Run(want, func(t *testing.T) {
			count := 0
			fs, _, above := mount(t, func(_ *passfs.Call, do func() syscall.Errno) syscall.Errno {
				if count++; count == n+1 {
					return syscall.EDQUOT
				}
				return do()
			})
			out, err := run(t, above)
			if err == nil || !strings.Contains(out, syscall.EDQUOT.Error()) {
				t.Errorf("the call failed, got %v: %s", err, out)
			}
			fs.Use(nil)
			if count != n+1 {
				t.Errorf("%d calls were made, want %d", count, n+1)
			}
		})
	}
}

// TestKillsAtEveryCall kills the process at each call in turn. The call is not carried out.
func TestKillsAtEveryCall(t *testing.T) {
	for n, want := range strings.Split(kinds, ",") {
		t.Run(want, func(t *testing.T) {
			count := 0
			var process atomic.Pointer[os.Process]
			fs, _, above := mount(t, func(_ *passfs.Call, do func() syscall.Errno) syscall.Errno {
				if count++; count <= n {
					return do()
				}
				_ = process.Load().Kill()
				return syscall.EIO
			})
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), inChild+"="+above)
			start, err := cmd.StdinPipe()
			if err := errors.Join(err, cmd.Start()); err != nil {
				t.Fatal(err)
			}
			process.Store(cmd.Process)
			if err := start.Close(); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			fs.Use(nil)
			if err == nil || cmd.ProcessState.Exited() || count != n+1 {
				t.Errorf("the process ended with %v after %d calls, want a kill at call %d", err, count, n+1)
			}
		})
	}
}
