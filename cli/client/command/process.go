// Package command contains the parts that every command of the client needs: its process, its
// arguments and flags, the completion of both, listings, and advice for errors.
package command

import (
	"context"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/client/report"
	"labshelf/cli/connection"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/meter"
	"labshelf/cli/process"
	"labshelf/cli/suggest"
	"labshelf/client"
)

// Process is the environment of the commands.
type Process struct {
	process.Process
	Meters *atomic.Int64 // number of meters on the terminal

	// Connect and UntilSignal are connection.Open and process.UntilSignal; tests replace them.
	Connect     func(flags *pflag.FlagSet, p process.Process, open bool) (*client.Client, error)
	UntilSignal func(run func(context.Context) error) error
}

// Output is where a command writes its results and its progress.
func (p Process) Output(asJSON bool) report.Output {
	return report.Output{Out: p.Out, Err: p.Err, JSON: asJSON, NewMeter: p.newMeter}
}

// Remote adds the flags for a service to cmd. run gets a client, which is closed afterwards, and a
// context that the first signal cancels. Errors get advice.
func (p Process) Remote(cmd *cobra.Command, run func(ctx context.Context, c *client.Client, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := wantValues(cmd.Flags()); err != nil {
			return err
		}
		c, err := p.Connect(cmd.Flags(), p.Process, false)
		if err != nil {
			return err
		}
		defer c.Close()
		return p.UntilSignal(func(ctx context.Context) error { return p.Advise(ctx, c, run(ctx, p.announceRetries(c), args)) })
	}
	if cmd.Annotations == nil {
		cmd.Annotations = exit.Codes(exit.CodeInterrupted)
	}
	connection.AddFlags(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("server", LoggedIn) // a process might not have the flag
	return cmd
}

// Branch returns a command that only has subcommands.
func (p Process) Branch(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: suggest.NoSuchCommand, RunE: suggest.WantSubcommand}
	cmd.AddCommand(below...)
	return cmd
}

// Done reports an object that was created or changed, as a sentence or as the new record in JSON.
func (p Process) Done(record any, asJSON bool, format string, args ...any) error {
	if asJSON {
		return display.WriteJSON(p.Out, record)
	}
	_, err := display.Fprintf(p.Out, format, args...)
	return err
}

func (p Process) newMeter(what string) *meter.Meter {
	return meter.NewShared(p.Err, what, p.Meters)
}
