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

// fewFiles lowers the number of descriptors of the service so far that it can open nothing more.
func fewFiles(ctx context.Context, _ *trial, u *user) (end func() error, err error) {
	pid := strconv.Itoa(u.pid)
	set := func(limit int) error {
		return execute(context.WithoutCancel(ctx), "prlimit", "--pid", pid, fmt.Sprintf("--nofile=%d:", limit))
	}
	if err := u.atRest(ctx); err != nil {
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

// atRest waits until the service has made files of all bodies, and has opened and closed nothing for a while: what is open at one
// moment leaves room at the next.
func (u *user) atRest(ctx context.Context) error {
	const looks = 50 // 10 ms from one to the next
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var before []os.DirEntry
	for same := 0; same < looks; same++ {
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
			return fmt.Errorf("the service does not come to rest: %w", ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
