package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"labshelf/auth/errs"
	"labshelf/backup"
	"labshelf/bolt"
	"labshelf/cli/datadir"
	"labshelf/cli/exit"
	"labshelf/cli/server/listener"
	"labshelf/client"
	"labshelf/metadata"
)

// The exit codes. Scripts and supervisors rely on them: they never change their meaning.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitLocked      = 3
	exitInUse       = 4
	exitDamaged     = 5
	exitPartly      = 6
	exitHeld        = 7
	exitInterrupted = 130
)

// exitMeanings is what help says about the codes, in ascending order.
var exitMeanings = []struct {
	code    int
	meaning string
}{
	{exitOK, "all went well"},
	{exitFailure, "it failed"},
	{exitUsage, "wrong usage or configuration"},
	{exitLocked, "another process has the data directory, or the backup"},
	{exitInUse, "the address to listen on is in use"},
	{exitDamaged, "the data are damaged, or of a newer version of labshelf"},
	{exitPartly, "some of it failed, as reported; the rest is done"},
	{exitHeld, "stopped before it removes much; nothing was removed"},
	{exitInterrupted, "ended by a signal before it was done"},
}

// What ends a command; the packages that it calls have errors of their own.
var (
	errInterrupted = errors.New("ended at once on a second signal")
)

// sentinelExits says which exit code an error gives. The first that fits counts.
var sentinelExits = []struct {
	sentinel error
	code     int
}{
	{errInterrupted, exitInterrupted},
	{exit.ErrInterrupted, exitInterrupted},
	{exit.ErrUsage, exitUsage},
	{exit.ErrPartly, exitPartly},
	{exit.ErrHeld, exitHeld},
	{bolt.ErrLocked, exitLocked},
	{datadir.ErrInUse, exitLocked},
	{datadir.ErrMixed, exitUsage},
	{listener.ErrAddressInUse, exitInUse},
	{bolt.ErrDamaged, exitDamaged},
	{bolt.ErrTooNew, exitDamaged},
	{datadir.ErrNoMetadata, exitDamaged},
	{datadir.ErrNoFiles, exitDamaged},
	{metadata.ErrRecordDamaged, exitDamaged},
	{errDamageFound, exitDamaged},
	{backup.ErrBroken, exitDamaged},
	{backup.ErrMetadataDamaged, exitDamaged},
	{backup.ErrBusy, exitLocked},
	{backup.ErrOccupied, exitUsage},
	{backup.ErrInside, exitUsage},
	{backup.ErrNoSnapshot, exitUsage},
}

// kindExits says which exit code a refusal by the repository gives.
var kindExits = map[errs.Kind]int{
	errs.Internal:           exitFailure,
	errs.Invalid:            exitUsage,
	errs.Unauthenticated:    exitFailure,
	errs.Forbidden:          exitFailure,
	errs.NotFound:           exitFailure,
	errs.Conflict:           exitFailure,
	errs.Gone:               exitFailure,
	errs.Precondition:       exitFailure,
	errs.TooLarge:           exitFailure,
	errs.UnsupportedMedia:   exitFailure,
	errs.MethodNotAllowed:   exitFailure,
	errs.UnsatisfiableRange: exitFailure,
	errs.TimedOut:           exitFailure,
	errs.NoSpace:            exitFailure,
	errs.Unavailable:        exitFailure,
	errs.Misdirected:        exitFailure,
	errs.TooManyRequests:    exitFailure,
	errs.Locked:             exitFailure,
	errs.ChecksumMismatch:   exitFailure,
}

func exitCode(err error) int {
	if err == nil {
		return exitOK
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
		return exitDamaged
	}
	return exitFailure
}

// explain is the text of an error for the operator of the service, with the cause of a refusal,
// which clients do not see.
func explain(err error) string {
	var refusal *errs.Error
	var problem *client.Problem
	switch {
	case errors.As(err, &problem) && problem.Code == errs.CodeDataDamaged:
		return fmt.Sprintf("%v\nstop the service, keep a copy of its data directory as it is, and check that with: labshelf check --data DIR", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Sprintf("%v; raise the limit of open files with \"ulimit -n 65536\", or LimitNOFILE=65536 for systemd", err)
	case !errors.As(err, &refusal):
		return err.Error()
	case refusal.Err == nil:
		return refusal.Message
	case refusal.Code == errs.CodeInternal: // it says no more than that the cause is in the log
		return refusal.Err.Error()
	}
	return fmt.Sprintf("%s: %v", refusal.Message, refusal.Err)
}

const exitsKey = "exits"

// exits is the annotation of a command that can give these codes besides 0, 1 and 2.
func exits(codes ...int) map[string]string {
	var list []string
	for _, code := range codes {
		list = append(list, fmt.Sprint(code))
	}
	return map[string]string{exitsKey: strings.Join(list, " ")}
}

// exitNote lists the exit codes of a command.
func exitNote(cmd *cobra.Command) string {
	special := strings.Fields(cmd.Annotations[exitsKey])
	var text strings.Builder
	text.WriteString("Exit codes:\n")
	for _, e := range exitMeanings {
		if e.code <= exitUsage || slices.Contains(special, fmt.Sprint(e.code)) {
			fmt.Fprintf(&text, "  %3d  %s\n", e.code, e.meaning)
		}
	}
	return text.String()
}
