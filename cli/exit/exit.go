// Package exit defines the exit codes of the program, and the errors of commands that come neither
// from the service nor from the file system.
package exit

import (
	"context"
	"errors"
	"fmt"
)

// The errors of commands. Package cli maps them to exit codes.
var (
	// ErrUsage is a mistake in the command line, the environment or the configuration.
	ErrUsage = errors.New("wrong usage")
	// ErrPartly means that a part of the work failed and the rest is done. Each failure was
	// reported.
	ErrPartly = errors.New("some items failed")
	// ErrHeld means that the command would remove a lot and needs a confirmation first. Nothing was
	// removed.
	ErrHeld = errors.New("stopped before a large removal")
	// ErrInterrupted means that a signal ended the command before it was done.
	ErrInterrupted = errors.New("interrupted")
	// ErrSecondSignal means that a second signal ended the command immediately.
	ErrSecondSignal = errors.New("ended immediately on a second signal")
)

// Usagef returns an ErrUsage with the text of format and args.
func Usagef(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

// Usage marks err, which is not nil, as an ErrUsage and keeps its text.
func Usage(err error) error { return mistake{err} }

type mistake struct{ error }

func (m mistake) Unwrap() error { return m.error }

func (m mistake) Is(target error) bool { return target == ErrUsage }

// Interrupted returns err, or, if ctx has ended, an ErrInterrupted. The text why says why it is
// safe to run the command again.
func Interrupted(ctx context.Context, err error, why string) error {
	if ctx.Err() == nil || err == nil {
		return err
	}
	return fmt.Errorf("%w; run the same command again to resume: %s", ErrInterrupted, why)
}
