package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// allocated returns the number of bytes that a file occupies on the disk.
func allocated(path string) (int64, error) {
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return stat.Blocks * 512, nil
}

// evict drops a file from the page cache.
func evict(path string) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return errors.Join(file.Sync(), unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED))
}

// diskOperations returns the number of reads, writes and discards that the disks of this machine
// have completed, and the number in flight. Without /proc/diskstats both are 0.
func diskOperations() (done, underWay int) {
	const reads, writes, inFlight, discards = 3, 7, 11, 14 // fields of a line; lines of old kernels have no discards
	stats, _ := os.ReadFile("/proc/diskstats")
	for line := range strings.Lines(string(stats)) {
		fields := strings.Fields(line)
		field := func(i int) int {
			if i >= len(fields) {
				return 0
			}
			n, _ := strconv.Atoi(fields[i])
			return n
		}
		done += field(reads) + field(writes) + field(discards)
		underWay += field(inFlight)
	}
	return done, underWay
}

// flush makes the system write its buffers to the disks.
func flush() { unix.Sync() }
