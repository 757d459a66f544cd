package commands

import (
	"context"

	"github.com/spf13/cobra"

	"labshelf/client"
	"labshelf/commands/completion"
	"labshelf/commands/get"
)

func catCommand(p Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cat RESOURCE...",
		Short: "Write files to standard output",
		Long: `cat writes the file of a resource to standard output, or those of several, one
after the other. It verifies their SHA-256: where that differs, or the transfer
breaks off, cat fails, and what was written is not to be used. A terminal gets
text only. "labshelf get" saves files, and resumes interrupted downloads.

RESOURCE is an id, a URL or SET:NAME; see "labshelf help references".`,
		Example: `  labshelf cat runs-2026:2026/11/run-1.csv | head
  labshelf cat runs-2026:picture.png > picture.png`,
		Args: atLeast(1, "one or more resources, such as runs-2026:run-1.csv"),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		for _, ref := range args { // the output ends at the first error: one with a gap is of no use
			if err := get.Cat(ctx, c, p.output(false), ref, 0); err != nil {
				return err
			}
		}
		return nil
	})
	return p.completes(cmd, true, completion.Resources(client.Active))
}
