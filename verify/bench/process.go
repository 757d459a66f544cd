package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
)

// onLinux reports whether the system shows the memory and processor time of another process. Other
// systems skip the rows that need them.
const onLinux = runtime.GOOS == "linux"

// resetPeak resets VmHWM of a process to its current resident memory.
func resetPeak(pid int) error {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		return fmt.Errorf("reset the peak of memory: %w", err)
	}
	return nil
}

// memoryOf returns a line of /proc/PID/status, in MiB.
func memoryOf(pid int, line string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	found := regexp.MustCompile(`(?m)^` + line + `:\s+(\d+) kB$`).FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("/proc/%d/status has no line %s", pid, line)
	}
	kib, err := strconv.ParseFloat(string(found[1]), 64)
	return kib / 1024, err
}
