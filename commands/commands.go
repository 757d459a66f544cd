// Package commands is the desk at which people use a service from a terminal: it puts files in and gets them out, shows what is
// there, and says who may do what. It knows services by package client only, wherever they run; the commands that run a service
// and care for its data are in package cli.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/client"
)

// The groups in which help lists commands, by cobra's id.
const (
	GroupRun    = "run"
	GroupUse    = "use"
	GroupPeople = "people"
	GroupCare   = "care"
)

// Groups returns the groups in the order of help.
func Groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: GroupRun, Title: "Run a service:"},
		{ID: GroupUse, Title: "Use one:"},
		{ID: GroupPeople, Title: "Say who may:"},
		{ID: GroupCare, Title: "Take care of the data:"},
	}
}

// What ends a command beside the answers of a service and of the file system. The exit codes are those of package cli.
var (
	// ErrUsage is a mistake in the command line, the environment or the configuration.
	ErrUsage = errors.New("wrong usage")
	// ErrPartly says that some of what was asked for failed, and the rest is done. Each failure has been told.
	ErrPartly = errors.New("some of it failed")
	// ErrInterrupted says that somebody ended the command before it was done.
	ErrInterrupted = errors.New("interrupted")
)

// usagef returns an ErrUsage that says only what format and args say.
func usagef(format string, args ...any) error { return mistake{fmt.Errorf(format, args...)} }

type mistake struct{ error }

func (m mistake) Unwrap() error        { return m.error }
func (m mistake) Is(target error) bool { return target == ErrUsage }

// Process is what commands know of the process that they run in, and what they share with the commands of package cli.
type Process struct {
	Environ  []string // as from os.Environ
	Version  string   // of this program; "" where it is not known
	In       io.Reader
	Out, Err io.Writer // what was asked for, and everything else

	// UntilSignal calls run and ends its context at the first signal. A command that can be left half way says so with
	// ErrInterrupted.
	UntilSignal func(run func(context.Context) error) error
	// RemoteFlags defines the flags that say which service to ask, and as whom.
	RemoteFlags func(*pflag.FlagSet)
	// Connect reads them. Without a key given or stored it refuses, unless open is set: then the client is nobody's. The
	// caller closes the client.
	Connect func(flags *pflag.FlagSet, open bool) (*client.Client, error)
	// BaseURL returns the base URL of the service that a person means by text. Its error states the rule.
	BaseURL func(text string) (string, error)
	// ExitCodes are the annotations of a command that can end with these codes beside the usual ones.
	ExitCodes func(codes ...int) map[string]string
	// NewKeyIn makes a key for a user in the data directory of a service that is stopped.
	NewKeyIn func(ctx context.Context, data, user string) (string, error)
	// Refuse and Want are for commands that only hold others: their Args and their RunE.
	Refuse cobra.PositionalArgs
	Want   func(*cobra.Command, []string) error

	meters *atomic.Int64 // that are on the terminal
}

// All returns the commands, each in its group.
func All(p Process) []*cobra.Command {
	p.meters = new(atomic.Int64)
	return append([]*cobra.Command{
		group(GroupUse, loginCommand(p)), group(GroupUse, logoutCommand(p)), group(GroupUse, statusCommand(p)),
		group(GroupUse, lsCommand(p)), group(GroupUse, putCommand(p)), group(GroupUse, getCommand(p)), group(GroupUse, catCommand(p)),
		group(GroupUse, harvestCommand(p)),
		group(GroupUse, mvCommand(p)), group(GroupUse, rmCommand(p)), group(GroupUse, restoreCommand(p)),
		group(GroupUse, setCommand(p)), group(GroupUse, dataspaceCommand(p)), group(GroupUse, completionCommand(p)),
		group(GroupPeople, grantCommand(p)), group(GroupPeople, revokeCommand(p)), group(GroupPeople, userCommand(p)), group(GroupPeople, keyCommand(p)),
		bashCommand(p),
	}, topics()...)
}

func group(id string, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = id
	return cmd
}

// remote is cmd with the flags for a service. Its run gets a client that is closed afterwards, and a context that ends with
// the first signal. Errors get the advice of advise.
func (p Process) remote(cmd *cobra.Command, run func(ctx context.Context, c *client.Client, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := p.Connect(cmd.Flags(), false)
		if err != nil {
			return err
		}
		defer c.Close()
		return p.UntilSignal(func(ctx context.Context) error { return p.advise(ctx, c, run(ctx, p.loud(c), args)) })
	}
	if cmd.Annotations == nil {
		cmd.Annotations = p.ExitCodes(130)
	}
	p.RemoteFlags(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("server", loggedIn) // which a process may not have
	return cmd
}

// branch is a command that only holds others.
func (p Process) branch(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: p.Refuse, RunE: p.Want}
	cmd.AddCommand(below...)
	return cmd
}
