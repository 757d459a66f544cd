package child

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// separate makes a child end with the thread that starts it, and gives it no folder.
func separate(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true} // so that a terminal sends its signals to the service only
}

// limit limits the resources of this process.
func limit() error {
	if err := closeInherited(); err != nil {
		return err
	}
	begun, err := addressSpace()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		resource int
		most     uint64
	}{
		{unix.RLIMIT_AS, begun + maxMemory},
		{unix.RLIMIT_CPU, uint64(maxTime / time.Second)},
		{unix.RLIMIT_FSIZE, 0}, // file size; pipes have none
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_NOFILE, 16},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit %d: %w", l.resource, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := refuseCalls(); err != nil {
		return err
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, 19)
}

// closeInherited closes file descriptors that the parent process had inherited itself. Go closes
// its own files when it starts a program.
func closeInherited() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd) // already closed, or owned by the runtime
		}
	}
	return nil
}

// addressSpace returns the bytes of address space of this process. Go reserves much more than it
// uses.
func addressSpace() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseUint(string(pages), 10, 64)
	return n * uint64(os.Getpagesize()), err
}
