package commands

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/client"
	"labshelf/commands/completion"
	"labshelf/commands/display"
	"labshelf/commands/exit"
	"labshelf/commands/reference"
)

func mvCommand(p Process) *cobra.Command {
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:   "mv RESOURCE NEWNAME",
		Short: "Give a resource another name",
		Long: `mv gives a resource another name. NEWNAME is the complete name, with its
folders, such as 2026/run-1.csv. The resource keeps its id, its URL and its set;
it cannot move to another set.

Where the set has another resource of that name, mv refuses, since SET:NAME
would be ambiguous.`,
		Example: "  labshelf mv runs-2026:2026/run-1.csv 2026/run-01.csv",
		Args:    exactly(2, "a resource and its new name"),
	}
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if args[1] == "" {
			return exit.Usagef("NEWNAME is empty")
		}
		_, isURL := reference.ParseAddress(args[0])
		if set, _, inSet := strings.Cut(args[0], ":"); inSet && !isURL && strings.HasPrefix(args[1], set+":") {
			return exit.Usagef("NEWNAME is the name alone, without %q: a resource cannot move to another set", set+":")
		}
		return nil
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return p.mv(ctx, c, args[0], args[1], force, asJSON)
	})
	cmd.Flags().BoolVar(&force, "force", false, "also where the set has a resource of that name: then two have it")
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, false, completion.Resources(client.Active))
}

func (p Process) mv(ctx context.Context, c *client.Client, ref, name string, force, asJSON bool) error {
	r, err := reference.FindResource(ctx, c, ref, client.Active)
	if err != nil {
		return err
	}
	for other, err := range c.SetResources(ctx, r.SetID, client.ListOptions{Name: name, Limit: 2}) {
		if err != nil {
			return err
		}
		if other.ID != r.ID && !force {
			return fmt.Errorf("the set has a resource %q already, %s; delete that one first, or give --force to have two of that name",
				name, other.ID)
		}
	}
	renamed, err := c.EditResource(ctx, r.ID, client.ResourceEdit{Name: &name})
	if err != nil {
		return err
	}
	if asJSON {
		return display.WriteJSON(p.Out, renamed)
	}
	_, err = fmt.Fprintf(p.Out, "%s is now %s.\n", display.Printable(r.Name), display.Printable(renamed.Name))
	return err
}
