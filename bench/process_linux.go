package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// allocated returns how many bytes a file takes on the disk.
func allocated(path string) (int64, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return stat.Blocks * 512, nil
}

// evict takes a file out of the page cache.
func evict(path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return errors.Join(file.Sync(), unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED))
}

// processorTime returns how long the threads of a process have run, also those that have ended. It is read from the process's
// clock: /proc/PID/stat counts in steps of 10 ms, which is a tenth of what sending a GiB takes.
func processorTime(pid int) (time.Duration, error) {
	var at unix.Timespec
	clock := int32(^pid<<3 | 2) // as clock_getcpuclockid makes it
	if err := unix.ClockGettime(clock, &at); err != nil {
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(at.Nano()), nil
}
