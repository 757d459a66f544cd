// Package exit has the exit codes of the program, and the errors with which commands end, other
// than the errors of the service and of the file system.
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
	ErrPartly = errors.New("some of it failed")
	// ErrHeld means that the command would remove so much that it asks first. Nothing was removed.
	ErrHeld = errors.New("stopped before it removes much")
	// ErrInterrupted means that a signal ended the command before it was done.
	ErrInterrupted = errors.New("interrupted")
	// ErrSecondSignal means that a second signal ended the command at once.
	ErrSecondSignal = errors.New("ended at once on a second signal")
)

// Usagef returns an ErrUsage with the text of format and args.
func Usagef(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

// Usage marks err, which is not nil, as an ErrUsage without a change of its text.
func Usage(err error) error { return mistake{err} }

type mistake struct{ error }

func (m mistake) Unwrap() error { return m.error }

func (m mistake) Is(target error) bool { return target == ErrUsage }

// Interrupted returns err or, once ctx has ended, an ErrInterrupted; why says what makes it safe to
// run the command again.
func Interrupted(ctx context.Context, err error, why string) error {
	if ctx.Err() == nil || err == nil {
		return err
	}
	return fmt.Errorf("%w; run the same command again to go on: %s", ErrInterrupted, why)
}
