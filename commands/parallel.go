package commands

import (
	"context"
	"fmt"
	"sync"

	"github.com/spf13/cobra"
)

// sendAtOnce and fetchAtOnce are how many files are sent, and fetched, at once. Of 3,000 files of 4 KiB, 8 are sent in 0.6 of the time
// that 4 take, since those that come together share a sync of the disk; to fetch them it takes as long.
const sendAtOnce, fetchAtOnce = 8, 4

// parallelFlag defines --parallel.
func parallelFlag(cmd *cobra.Command, parallel *int, verb string, usual int) {
	cmd.Flags().IntVar(parallel, "parallel", usual, fmt.Sprintf("%s `N` files at once, up to %d", verb, mostParallel))
}

func checkParallel(parallel int) error {
	if parallel < 1 || parallel > mostParallel {
		return usagef("--parallel must be 1 to %d, not %d", mostParallel, parallel)
	}
	return nil
}

// each calls do with 0 … n-1, so many at a time, and returns when none is running. After an error it begins no more, ends the context of
// those that run, and returns the first one.
func each(ctx context.Context, parallel, n int, do func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var running sync.WaitGroup
	for range min(parallel, n) {
		running.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					stop(err)
					return
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	running.Wait()
	return context.Cause(ctx)
}
