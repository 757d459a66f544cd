package child

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architectures are the ones for which system calls are filtered.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// ioUring is another way to open a connection; its number is the same on every architecture.
const ioUring = 425

// refuseCalls makes the kernel refuse calls that open a connection or run another program, in all
// threads of this process. A kernel without such filters, and other architectures, are not
// restricted.
func refuseCalls() error {
	architecture, filtered := architectures[runtime.GOARCH]
	if !filtered {
		return nil
	}
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		atMost = unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K
		answer = unix.BPF_RET | unix.BPF_K

		offsetOfNumber, offsetOfArchitecture = 0, 4 // in seccomp_data
		greatest                             = 1<<30 - 1
	)
	refused := []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, ioUring}
	end := uint8(len(refused)) // of the program: allow, then refuse
	program := []unix.SockFilter{
		{Code: load, K: offsetOfArchitecture},
		{Code: equal, K: architecture, Jf: end + 3},
		{Code: load, K: offsetOfNumber},
		{Code: atMost, K: greatest, Jt: end + 1}, // calls through another ABI of the same kernel
	}
	for i, number := range refused {
		program = append(program, unix.SockFilter{Code: equal, K: number, Jt: end - uint8(i)})
	}
	program = append(program, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	runtime.KeepAlive(program)
	if errno != 0 && !errors.Is(errno, unix.ENOSYS) && !errors.Is(errno, unix.EINVAL) {
		return fmt.Errorf("filter of system calls: %w", errno)
	}
	return nil
}
