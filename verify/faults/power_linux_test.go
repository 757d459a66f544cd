package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// shutdown is the request that stops a file system immediately, as a power cut does. ext4 and XFS
// support it.
const shutdown = 0x8004587d // _IOR('X', 125, uint32)

// Options for the log of the file system at the shutdown.
const (
	flushLog = 1
	dropLog  = 2
)

// cutsPerDisk is the number of power cuts per image.
const cutsPerDisk = 5

// filesystem is a kind of file system that supports shutdown.
type filesystem struct {
	make, check []string // commands; the image is the last argument
}

func filesystems() []filesystem {
	return []filesystem{
		{make: []string{"mkfs.ext4", "-q", "-F"}, check: []string{"e2fsck", "-f", "-n"}},
		{make: []string{"mkfs.xfs", "-q", "-f"}, check: []string{"xfs_repair", "-n"}},
	}
}

// disk is a file system in an image file, mounted through a loop device. It contains a repository.
type disk struct {
	filesystem
	dir      string
	workload *workload
}

func (d *disk) image() string { return filepath.Join(d.dir, "image") }
func (d *disk) mount() string { return filepath.Join(d.dir, "mounted") }

// power simulates power cuts under load, which lose all unsynced data.
func power(ctx context.Context, t *trial) (err error) {
	program, err := t.build(ctx)
	if err != nil {
		return err
	}
	t.add("acknowledged", 0)
	countUploads(t, chunkCount{})
	var d *disk
	for i := range t.units(ctx, t.size) {
		if d != nil && i%cutsPerDisk == 0 {
			if err := d.retire(ctx, t); err != nil {
				return err
			}
			d = nil
		}
		if d == nil {
			d = &disk{filesystem: filesystems()[i/cutsPerDisk%2], dir: filepath.Join(t.dir, fmt.Sprint("disk-", i))}
			if err := d.create(ctx, t, program, i); err != nil {
				return errors.Join(err, d.abandon())
			}
		}
		if err := d.cut(ctx, t, i); err != nil {
			return errors.Join(fmt.Errorf("%s, log %d: %w", d.make[0], logOf(i), err), d.abandon())
		}
	}
	t.add("lost", 0)
	t.add("violations", 0)
	if d != nil {
		err = d.retire(ctx, t)
	}
	return err
}

// logOf returns the option for the log of the file system in the power cut of a unit.
func logOf(i int) int { return []int{flushLog, dropLog}[i%2] }

// create creates the file system and the repository. The log of the service and the expected states
// are stored outside.
func (d *disk) create(ctx context.Context, t *trial, program string, i int) error {
	data, on := filepath.Join(d.dir, "data"), filepath.Join(d.mount(), "data")
	if err := os.MkdirAll(d.mount(), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(d.image(), nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(d.image(), 512<<20); err != nil {
		return err
	}
	if err := command(ctx, append(d.make, d.image())...); err != nil {
		return err
	}
	if err := d.attach(ctx); err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir(on, 0o700), os.Symlink(on, data)); err != nil {
		return err
	}
	workload, err := newWorkload(ctx, program, data, t.random(i))
	if d.workload = workload; err == nil {
		workload.purged = true
		workload.useUploads()
	}
	return err
}

// cut runs one cycle: load, a power cut, checks, and a restart.
func (d *disk) cut(ctx context.Context, t *trial, i int) error {
	after := 50*time.Millisecond + time.Duration(t.random(i).IntN(400))*time.Millisecond
	err := d.workload.runUntil(ctx, t, after, func() error {
		err := d.end(logOf(i))
		d.workload.service.Kill()
		return err
	})
	if err != nil {
		return err
	}
	// Mount and unmount the file system, so that it replays its log. Then its check must find no
	// error.
	for _, step := range []func() error{
		func() error { return d.detach(ctx) },
		func() error { return d.attach(ctx) },
		func() error { return d.detach(ctx) },
		func() error { return command(ctx, append(d.check, d.image())...) },
		func() error { return d.attach(ctx) },
		func() error { return d.workload.checkStopped(ctx) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if _, err := d.workload.start(ctx); err != nil {
		return err
	}
	err = d.workload.verify(ctx)
	d.workload.countUploads(t)
	return err
}

// end stops the file system like a power cut.
func (d *disk) end(log int) (err error) {
	root, err := os.Open(d.mount())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := unix.IoctlSetPointerInt(int(root.Fd()), shutdown, log); err != nil {
		return fmt.Errorf("stop the file system: %w", err)
	}
	return nil
}

func (d *disk) attach(ctx context.Context) error {
	return command(ctx, "mount", "-o", "loop", d.image(), d.mount())
}

func (d *disk) detach(ctx context.Context) error { return command(ctx, "umount", d.mount()) }

// abandon stops the service and unmounts the disk. The image remains for inspection.
func (d *disk) abandon() error {
	if d.workload != nil && d.workload.service != nil {
		d.workload.service.Kill()
	}
	return d.detach(context.Background())
}

// retire stops a repository cleanly and removes its disk.
func (d *disk) retire(ctx context.Context, t *trial) error {
	return errors.Join(finish(ctx, t, d.workload), d.detach(ctx), os.RemoveAll(d.dir))
}

// command runs a program. It returns the output only in an error.
func command(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, output)
	}
	return nil
}

// TestPowerCut simulates power cuts under load, on ext4 and XFS. It runs longer if it must find a
// mutant.
func TestPowerCut(t *testing.T) {
	cuts := 4
	if os.Getenv("MUTANT") != "" {
		cuts = 60
	}
	needs := []string{"linux", "root", "loop", "mkfs.ext4", "mkfs.xfs"}
	try(t, row{name: "power", unit: "cuts", tiny: cuts, short: 10, long: 500, needs: needs, run: power})
}
