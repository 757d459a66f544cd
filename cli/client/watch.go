package client

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func watchCommand(p command.Process) *cobra.Command {
	var after string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "watch [DATASPACE | SET | RESOURCE]",
		Short: "Print changes as they happen",
		Long: `watch prints a line for each change that you can see, until you press Ctrl-C:
the time, the action, and the id of the dataspace, set, resource, user or key.
With a dataspace, a set or a resource, it prints only changes of this object and
its content. A sysadmin also sees changes of users and webhooks, and purges.

After a restart of the service or a broken connection, watch resumes after the
last printed change. With --after ID it begins after the change with this id,
which --json shows. The line "reload" means that changes may be missing, because
the id is more than 10,000 changes old, or the service was restored from a
backup since.`,
		Example: `  labshelf watch
  labshelf watch runs-2026
  labshelf watch lab-one --json`,
		Args: command.AtMost(1, "one dataspace, set or resource"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id := ""
		if len(args) > 0 {
			d, s, r, err := reference.FindAny(ctx, c, args[0])
			switch {
			case err != nil:
				return err
			case d != nil:
				id = d.ID
			case s != nil:
				id = s.ID
			default:
				id = r.ID
			}
		}
		return watch(ctx, p, c, id, after, asJSON)
	})
	cmd.Flags().StringVar(&after, "after", "", "begin after the change with this `ID` (default: now)")
	command.JSONFlag(cmd, &asJSON)
	p.Completes(cmd, false, completion.Either(completion.Dataspaces(client.Active), completion.SetsOrResources))
	return cmd
}

// watch prints the events of the object with an id and its content, or all events if the id is "".
func watch(ctx context.Context, p command.Process, c *client.Client, id, after string, asJSON bool) error {
	for e, err := range c.Events(ctx, after) {
		switch {
		case ctx.Err() != nil:
			return exit.ErrInterrupted
		case err != nil:
			return err
		case id != "" && e.Kind != client.Reload && e.Object.ID != id && e.SetID != id && e.DataspaceID != id:
			continue
		case asJSON:
			err = display.WriteJSON(p.Out, e)
		default:
			_, err = display.Fprintf(p.Out, "%s  %-16s  %s\n", time.Now().Format(time.DateTime), display.Printable(e.Kind), display.Printable(e.Object.ID))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
