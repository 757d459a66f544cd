package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/client"
	"labshelf/commands/completion"
	"labshelf/commands/display"
	"labshelf/commands/reference"
)

func retentionCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "retention DATASPACE [everything | last N | N days]",
		Short: "Show or set how long the versions of files are kept",
		Long: `retention shows which versions of the resources of a dataspace are kept, or sets
it: everything; the last N versions of each resource, the current one included;
or those replaced less than N days ago. A version with a label is always kept.

Nothing is removed at once: "labshelf purge" removes the files of the other
versions, and shows with --dry-run what would go. Their records stay. It
requires the role admin in the dataspace to set it.`,
		Example: `  labshelf retention lab-one
  labshelf retention lab-one last 5
  labshelf retention lab-one 90 days`,
		Args: between(1, 3, "a dataspace, and perhaps what it is to keep, such as last 5"),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		if len(args) > 1 {
			rule := strings.Join(args[1:], " ")
			if d, err = c.EditDataspace(ctx, d.ID, client.DataspaceEdit{Retention: &rule}); err != nil {
				return err
			}
		}
		return p.done(d, asJSON, "%s keeps %s.\n", display.Printable(d.Name), display.Printable(keeps(d.Retention)))
	})
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, false, completion.Dataspaces(client.Active), completion.Words("everything", "last", "90"))
}

// keeps says a retention in a sentence.
func keeps(retention string) string {
	if n, last := strings.CutPrefix(retention, "last "); last {
		return "the last " + n + " of the versions of each file"
	}
	if n, days := strings.CutSuffix(retention, " days"); days {
		return "the versions replaced less than " + n + " days ago"
	}
	return "every version"
}
