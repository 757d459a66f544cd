// Package process describes the process in which a command runs: its environment, outputs, version
// and signals.
package process

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"labshelf/cli/exit"
)

// Program is the name of the executable, for messages.
const Program = "labshelf"

// Process contains everything that a command gets from its process.
type Process struct {
	Environ  []string // as from os.Environ
	Version  string   // of the program; "" if it is unknown
	In       io.Reader
	Out, Err io.Writer // results; messages, progress and logs
}

// Version returns the version that the program was built from: a tag, the pseudo-version that Go
// gives to a commit without a tag, or "devel" without version control.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// UntilSignal calls run, and cancels its context at the first SIGINT or SIGTERM. At the second
// signal it returns exit.ErrSecondSignal without waiting for run.
func UntilSignal(run func(context.Context) error) error {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	for range 2 {
		select {
		case err := <-ended:
			return err
		case <-signals:
			stop()
		}
	}
	return exit.ErrSecondSignal
}
