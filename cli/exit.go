package cli

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"labshelf/auth/errs"
	"labshelf/backup"
	"labshelf/bolt"
	"labshelf/cli/datadir"
	"labshelf/cli/exit"
	"labshelf/cli/server"
	"labshelf/cli/server/listener"
	"labshelf/client"
	"labshelf/metadata"
)

// sentinelExits maps sentinel errors to exit codes. The first match counts.
var sentinelExits = []struct {
	sentinel error
	code     int
}{
	{exit.ErrSecondSignal, exit.CodeInterrupted},
	{exit.ErrInterrupted, exit.CodeInterrupted},
	{exit.ErrUsage, exit.CodeUsage},
	{exit.ErrPartly, exit.CodePartly},
	{exit.ErrHeld, exit.CodeHeld},
	{bolt.ErrLocked, exit.CodeLocked},
	{datadir.ErrInUse, exit.CodeLocked},
	{datadir.ErrMixed, exit.CodeUsage},
	{listener.ErrAddressInUse, exit.CodeInUse},
	{bolt.ErrDamaged, exit.CodeDamaged},
	{bolt.ErrTooNew, exit.CodeDamaged},
	{metadata.ErrTooOld, exit.CodeDamaged},
	{datadir.ErrNoMetadata, exit.CodeDamaged},
	{datadir.ErrNoFiles, exit.CodeDamaged},
	{metadata.ErrRecordDamaged, exit.CodeDamaged},
	{server.ErrDamageFound, exit.CodeDamaged},
	{backup.ErrBroken, exit.CodeDamaged},
	{backup.ErrMetadataDamaged, exit.CodeDamaged},
	{backup.ErrBusy, exit.CodeLocked},
	{backup.ErrOccupied, exit.CodeUsage},
	{backup.ErrInside, exit.CodeUsage},
	{backup.ErrNoSnapshot, exit.CodeUsage},
}

// kindExits maps kinds of repository errors to exit codes.
var kindExits = map[errs.Kind]int{
	errs.Internal:           exit.CodeFailure,
	errs.Invalid:            exit.CodeUsage,
	errs.Unauthenticated:    exit.CodeFailure,
	errs.Forbidden:          exit.CodeFailure,
	errs.NotFound:           exit.CodeFailure,
	errs.Conflict:           exit.CodeFailure,
	errs.Gone:               exit.CodeFailure,
	errs.Precondition:       exit.CodeFailure,
	errs.TooLarge:           exit.CodeFailure,
	errs.UnsupportedMedia:   exit.CodeFailure,
	errs.MethodNotAllowed:   exit.CodeFailure,
	errs.UnsatisfiableRange: exit.CodeFailure,
	errs.TimedOut:           exit.CodeFailure,
	errs.NoSpace:            exit.CodeFailure,
	errs.Unavailable:        exit.CodeFailure,
	errs.Misdirected:        exit.CodeFailure,
	errs.TooManyRequests:    exit.CodeFailure,
	errs.Locked:             exit.CodeFailure,
	errs.ChecksumMismatch:   exit.CodeFailure,
}

func exitCode(err error) int {
	if err == nil {
		return exit.CodeOK
	}
	for _, e := range sentinelExits {
		if errors.Is(err, e.sentinel) {
			return e.code
		}
	}
	var refusal *errs.Error
	if errors.As(err, &refusal) {
		return kindExits[refusal.Kind]
	}
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Code == errs.CodeDataDamaged {
		return exit.CodeDamaged
	}
	return exit.CodeFailure
}

// explain returns the error text for the operator of the service, including the cause of an error,
// which clients do not see.
func explain(err error) string {
	var refusal *errs.Error
	var problem *client.Problem
	switch {
	case errors.As(err, &problem) && problem.Code == errs.CodeDataDamaged:
		return fmt.Sprintf("%v\nstop the service, make a copy of its data directory, and check the copy with: labshelf check --data DIR", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Sprintf("%v; raise the limit of open files with \"ulimit -n 65536\", or LimitNOFILE=65536 for systemd", err)
	case !errors.As(err, &refusal):
		return err.Error()
	case refusal.Err == nil:
		return refusal.Message
	case refusal.Code == errs.CodeInternal: // the message only refers to the log
		return refusal.Err.Error()
	}
	return fmt.Sprintf("%s: %v", refusal.Message, refusal.Err)
}

// exitNote returns the list of a command's exit codes, for its help.
func exitNote(cmd *cobra.Command) string {
	var text strings.Builder
	text.WriteString("Exit codes:\n")
	for _, c := range exit.CodesOf(cmd.Annotations) {
		fmt.Fprintf(&text, "  %3d  %s\n", c.Number, c.Meaning)
	}
	return text.String()
}
