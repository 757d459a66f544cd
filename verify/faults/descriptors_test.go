package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// fewDescriptors lowers the limit of descriptors of the service so far that it cannot open another
// one.
func fewDescriptors(ctx context.Context, _ *trial, u *tenant) (end func() error, err error) {
	pid := strconv.Itoa(u.pid)
	set := func(limit int) error {
		return execute(context.WithoutCancel(ctx), "prlimit", "--pid", pid, fmt.Sprintf("--nofile=%d:", limit))
	}
	if err := u.atRest(ctx); err != nil {
		return nil, err
	}
	if err := u.Get(ctx, "/sets/"+u.set, &struct{}{}); err != nil { // over a connection that stays open: an upload may have closed its connection, and the service could not accept a new one
		return nil, err
	}
	for free := 0; ; free++ {
		_, err := os.Lstat(fmt.Sprintf("/proc/%s/fd/%d", pid, free))
		if errors.Is(err, os.ErrNotExist) {
			return func() error { return set(1024) }, set(free)
		}
		if err != nil {
			return nil, err
		}
	}
}

// atRest waits until the service has flushed all bodies to files, and has opened and closed no
// descriptor for a while. A file that is closed later would free a descriptor. atRest polls /proc,
// which reports no events.
func (u *tenant) atRest(ctx context.Context) error {
	const polls = 50 // 10 ms apart
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var before []os.DirEntry
	for same := 0; same < polls; same++ {
		files, err := filepath.Glob(filepath.Join(u.data, "blobs", "*", "*"))
		if err != nil {
			return err
		}
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", u.pid))
		if err != nil {
			return err
		}
		if len(files) < len(u.ids) || !slices.EqualFunc(open, before, func(a, b os.DirEntry) bool { return a.Name() == b.Name() }) {
			same, before = 0, open
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the service still opens or closes files: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
