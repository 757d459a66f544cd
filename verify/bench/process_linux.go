package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time of all threads of a process, including ended threads. It
// reads the clock of the process: /proc/PID/stat counts in steps of 10 ms, a tenth of the time of
// sending a GiB.
func processorTime(pid int) (time.Duration, error) {
	var at unix.Timespec
	clock := int32(^pid<<3 | 2) // like clock_getcpuclockid
	if err := unix.ClockGettime(clock, &at); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(at.Nano()), nil
}
