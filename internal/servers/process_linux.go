package servers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endWithParent makes the system signal the program when this process ends, even if it is killed.
func endWithParent(cmd *exec.Cmd, end os.Signal) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Pdeathsig = end.(syscall.Signal)
}

// unprivileged makes a command run as an ordinary user who can write in the folders, because
// PostgreSQL refuses to run as root.
func unprivileged(cmd *exec.Cmd, folders ...string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := os.Chown(folder, int(uid), int(gid)); err != nil {
			return err
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return nil
}

// killFamily kills a process and its children with SIGKILL, and returns when the children have
// exited.
func killFamily(p *process) error {
	parent := p.cmd.Process
	if err := parent.Signal(syscall.SIGSTOP); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err // the process is stopped, so that it starts no more children
	}
	children, err := childrenOf(parent.Pid)
	for _, child := range children {
		err = errors.Join(err, ignoreEnded(syscall.Kill(child, syscall.SIGKILL)))
	}
	_ = parent.Kill() // fails only after its end
	<-p.ended
	for deadline := time.Now().Add(stopLimit); err == nil && anyRuns(children); time.Sleep(poll) {
		if time.Now().After(deadline) {
			err = fmt.Errorf("processes %v outlived SIGKILL", children)
		}
	}
	return err
}

func ignoreEnded(err error) error {
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

// childrenOf returns the child processes of a process.
func childrenOf(parent int) ([]int, error) {
	all, err := filepath.Glob("/proc/[0-9]*")
	var children []int
	for _, folder := range all {
		pid, wrong := strconv.Atoi(filepath.Base(folder))
		if state, ppid := stateOf(pid); wrong == nil && state != "" && ppid == parent {
			children = append(children, pid)
		}
	}
	return children, err
}

// anyRuns reports whether one of the processes still runs. Zombies do not count.
func anyRuns(processes []int) bool {
	for _, pid := range processes {
		if state, _ := stateOf(pid); state != "" && state != "Z" && state != "X" {
			return true
		}
	}
	return false
}

// stateOf returns the state letter of a process and its parent, or "" if the process does not
// exist.
func stateOf(pid int) (state string, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	// the name in parentheses can contain anything
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// removeShared removes the shared memory segment of a killed postmaster.
func removeShared(pidFile []string) {
	const line, remove = 6, 0 // line of postmaster.pid, and IPC_RMID
	if len(pidFile) <= line {
		return
	}
	if fields := strings.Fields(pidFile[line]); len(fields) == 2 {
		if id, err := strconv.Atoi(fields[1]); err == nil {
			_, _, _ = syscall.Syscall(syscall.SYS_SHMCTL, uintptr(id), remove, 0) // it may already be removed
		}
	}
}

// keepsAttributes reports whether files of a folder support extended attributes.
func keepsAttributes(folder string) bool {
	return syscall.Setxattr(folder, "user.labshelf", []byte("1"), 0) == nil
}
