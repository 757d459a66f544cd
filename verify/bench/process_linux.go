package main

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns how long the threads of a process have run, also those that have ended. It
// is read from the process's clock: /proc/PID/stat counts in steps of 10 ms, which is a tenth of
// what sending a GiB takes.
func processorTime(pid int) (time.Duration, error) {
	var at unix.Timespec
	clock := int32(^pid<<3 | 2) // as clock_getcpuclockid makes it
	if err := unix.ClockGettime(clock, &at); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(at.Nano()), nil
}
