package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/client"
	"labshelf/commands/completion"
	"labshelf/commands/display"
	"labshelf/commands/exit"
	"labshelf/commands/reference"
)

func setCommand(p Process) *cobra.Command {
	return p.branch("set", "Make, change and list sets", setNewCommand(p), setEditCommand(p), setListCommand(p))
}

func setNewCommand(p Process) *cobra.Command {
	var s client.NewSet
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new DATASPACE/NAME",
		Short: "Make a set in a dataspace",
		Long: `new makes a set in a dataspace. NAME has 2 to 100 of a-z, 0-9, - and _; it is
unique in the service and cannot be changed. The title is for people, and can be
changed. It requires the role editor or admin in the dataspace.`,
		Example: `  labshelf set new lab-one/runs-2026 --title "Runs of 2026"`,
		Args:    exactly(1, "a dataspace and the name of the set, such as lab-one/runs-2026"),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		slash := strings.LastIndexByte(args[0], '/') // the last one, since a dataspace may be a URL
		if slash <= 0 || slash == len(args[0])-1 {
			return exit.Usagef("%q must be a dataspace and the name of the set, such as lab-one/runs-2026", args[0])
		}
		d, err := reference.FindDataspace(ctx, c, args[0][:slash], client.Active)
		if err != nil {
			return err
		}
		s.Name, s.DataspaceID = args[0][slash+1:], d.ID
		made, err := c.NewSet(ctx, s)
		if err != nil {
			return err
		}
		return p.done(made, asJSON, "Made the set %s in the dataspace %s: %s\n", display.Printable(made.Name), display.Printable(d.Name), reference.PageURL(made.URL))
	})
	cmd.Flags().StringVar(&s.Title, "title", "", titleHelp)
	cmd.Flags().StringVar(&s.Description, "description", "", descriptionHelp)
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, false, completion.IntoDataspaces)
}

func setEditCommand(p Process) *cobra.Command {
	var title, description string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "edit SET",
		Short: "Change the title or description of a set",
		Long: `edit changes the fields that flags name, and nothing else; "" empties a field.
Name and dataspace of a set cannot be changed. SET is a name, an id, a URL or
DATASPACE/TITLE; see "labshelf help references".`,
		Example: `  labshelf set edit runs-2026 --title "Runs of 2026, calibrated"`,
		Args:    exactly(1, "one set"),
	}
	flags := cmd.Flags()
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		s, err := reference.FindSet(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		edited, err := c.EditSet(ctx, s.ID, client.SetEdit{Title: given(flags, "title", &title), Description: given(flags, "description", &description)})
		if err != nil {
			return err
		}
		return p.done(edited, asJSON, "Changed the set %s.\n", display.Printable(edited.Name))
	})
	flags.StringVar(&title, "title", "", titleHelp)
	flags.StringVar(&description, "description", "", descriptionHelp)
	jsonFlag(cmd, &asJSON)
	cmd.PreRunE = wantOne(flags, "title", "description")
	return p.completes(cmd, false, completion.Sets(client.Active))
}

func setListCommand(p Process) *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:   "ls [DATASPACE]",
		Short: "List sets, of one dataspace or all",
		Long: `ls lists the sets of a dataspace, or all that you may read, the oldest first.
"labshelf ls SET" lists what is in one.`,
		Example: "  labshelf set ls\n  labshelf set ls lab-one --all",
		Args:    atMost(1, "one dataspace"),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.check() }
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) > 0 {
			d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
			if err != nil {
				return err
			}
			return p.showSetsOf(ctx, c, f, d)
		}
		names, err := reference.DataspaceNames(ctx, c)
		if err != nil {
			return err
		}
		v := f.view(`There are no such sets. "labshelf set new DATASPACE/NAME" makes one.`)
		v.also |= inMany
		return show(p, c.Sets(ctx, client.ListOptions{State: f.state(), Limit: f.page()}), setColumns(names), v)
	})
	f.define(cmd)
	return p.completes(cmd, false, completion.Dataspaces(client.Active))
}
