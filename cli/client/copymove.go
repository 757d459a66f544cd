package client

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func mvCommand(p command.Process) *cobra.Command {
	return placeCommand(p, placementFlags{move: true}, &cobra.Command{
		Use:   "mv RESOURCE NEWNAME | RESOURCE... --to SET [--name NAME]",
		Short: "Rename a resource, or move resources to another set",
		Long: `mv renames a resource. NEWNAME is the complete name, including folders, such as
2026/run-1.csv. If NEWNAME ends with a slash, it is a folder, to which the
resource moves under the same name. The resource keeps its id and its URL.

With --to, or with DATASPACE/SET, SET: or SET:NAME instead of NEWNAME, mv moves
resources to another set. The set can be in another dataspace, if you are an
editor there. No bytes are copied. Versions, tags and properties are moved, too.
Each resource gets a new id in its new set. The record in the old set is deleted
and refers to the new one, so that clients that follow either set receive the
change. mv prints the command that undoes the move. Use it instead of restore,
which would create a second resource: after the move back, the resource has its
old id, and keeps all later changes.

If the set has another resource with that name, mv refuses, since SET:NAME would
be ambiguous. After an error it continues with the next resource.`,
		Example: `  labshelf mv runs-2026:2026/run-1.csv 2026/run-01.csv
  labshelf mv runs-2026:run-1.csv runs-2026:run-2.csv --to archive`,
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	})
}

func cpCommand(p command.Process) *cobra.Command {
	return placeCommand(p, placementFlags{}, &cobra.Command{
		Use:   "cp RESOURCE NEWNAME | RESOURCE... --to SET [--name NAME]",
		Short: "Copy resources, within their set or to another one",
		Long: `cp creates a new resource from the current version of another one, with its tags
and properties. NEWNAME is the complete name of the copy in the same set. If it
ends with a slash, it is a folder, in which the copy has the same name. With
--to, or with DATASPACE/SET, SET: or SET:NAME instead of NEWNAME, cp copies
resources to another set. The set can be in another dataspace, if you are an
editor there. You must be able to read the originals. No bytes are copied: a
large file takes no longer than a small one, and needs no additional space. To
copy files to this machine, use "labshelf get".

If the set has another resource with that name, cp refuses, since SET:NAME would
be ambiguous. After an error it continues with the next resource.`,
		Example: `  labshelf cp runs-2026:run-1.csv run-1-cleaned.csv
  labshelf cp runs-2026:run-1.csv --to published --name figure-2.csv`,
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	})
}

// placementFlags are the flags of cp and mv.
type placementFlags struct {
	move, force, asJSON bool
	to, name            string
	goal                string     // destination of the resource, without --to
	set                 client.Set // destination of the resources; without an id each stays in its own set
}

func placeCommand(p command.Process, f placementFlags, cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("to") {
			return command.AtLeast(1, "a resource, such as runs-2026:run-1.csv")(cmd, args)
		}
		return command.Exactly(2, "a resource and its new name, or resources and --to SET")(cmd, args)
	}
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) (err error) {
		if f.to == "" {
			f.goal, args = args[1], args[:1]
		} else if f.set, err = reference.FindSet(ctx, c, f.to, client.Active); err != nil {
			return err
		}
		return p.Each(ctx, args, func(ref string) error { return place(ctx, p, c, ref, f) })
	})
	cmd.Flags().StringVar(&f.to, "to", "", "destination `SET`")
	cmd.Flags().StringVar(&f.name, "name", "", "new `NAME` of a single resource, with --to")
	cmd.Flags().BoolVar(&f.force, "force", false, "allow a second resource with the same name in the set")
	command.JSONFlag(cmd, &f.asJSON)
	p.CompletesFlag(cmd, "to", completion.Sets(client.Active))
	return p.Completes(cmd, true, completion.Resources(client.Active))
}

// check returns an error if arguments contradict each other.
func (f placementFlags) check(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	if f.to != "" {
		if flags.Changed("name") && (len(args) != 1 || f.name == "") {
			return exit.Usagef("--name is the new name of one resource: give one resource, and a name")
		}
		if f.name != "" {
			return reference.CheckName("--name", f.name)
		}
		return nil
	}
	switch {
	case flags.Changed("to"):
		return exit.Usagef("--to is empty")
	case flags.Changed("name"):
		return exit.Usagef("--name requires --to; without it, the name is the second argument")
	case args[1] == "":
		return exit.Usagef("NEWNAME is empty")
	}
	_, isURL := reference.ParseAddress(args[0])
	if set, _, inSet := strings.Cut(args[0], ":"); inSet && !isURL && strings.HasPrefix(args[1], set+":") {
		return exit.Usagef("NEWNAME is a name without %q; use --to SET to copy or move resources to another set", set+":")
	}
	return nil
}

// place copies or moves one resource.
func place(ctx context.Context, p command.Process, c *client.Client, ref string, f placementFlags) error {
	r, err := reference.FindResource(ctx, c, ref, client.Active)
	if err != nil {
		return err
	}
	if f.goal != "" {
		if err := f.destination(ctx, c, ref, f.goal, r); err != nil {
			return err
		}
	}
	to := client.Destination{SetID: f.set.ID, Name: f.name}
	if err := f.free(ctx, c, r); err != nil {
		return err
	}
	do := c.Resources.Copy
	if f.move {
		do = c.Resources.Move
	}
	arrived, err := do(ctx, r.ID, to)
	if err != nil {
		return err
	}
	if f.asJSON {
		return display.WriteJSON(p.Out, arrived)
	}
	was, is := display.Printable(r.Name), display.Printable(arrived.Name)
	switch {
	case !f.move:
		_, err = display.Fprintf(p.Out, "Copied %s%s as %s.\n", was, f.into(), arrived.ID)
	case arrived.ID == r.ID:
		_, err = display.Fprintf(p.Out, "%s is now %s.\n", was, is)
	default:
		_, err = display.Fprintf(p.Out, "Moved %s%s. To undo this: labshelf mv %s --to %s%s\n", was, f.into(), arrived.ID, r.SetID, back(r, arrived))
	}
	return err
}

// into describes the destination for display.
func (f placementFlags) into() string {
	var text strings.Builder
	if f.set.Name != "" {
		text.WriteString(" to " + f.set.Name)
	}
	if f.name != "" {
		text.WriteString(" under the name " + display.Printable(f.name))
	}
	return text.String()
}

// back returns the flag that restores the old name of a renamed resource.
func back(r, arrived client.Resource) string {
	if r.Name == arrived.Name {
		return ""
	}
	return " --name '" + strings.ReplaceAll(display.Printable(r.Name), "'", `'\''`) + "'"
}

// free returns an error if another resource has the name at the destination.
func (f placementFlags) free(ctx context.Context, c *client.Client, r client.Resource) error {
	set, name := r.SetID, r.Name
	if f.set.ID != "" {
		set = f.set.ID
	}
	if f.name != "" {
		name = f.name
	}
	if f.force {
		return nil
	}
	for other, err := range c.Sets.Resources(ctx, set, client.ListOptions{Name: name, Limit: 2}) {
		if err != nil {
			return err
		}
		if other.ID != r.ID || !f.move {
			return fmt.Errorf("the set already has a resource %q, %s; delete it first, or give --force to have two with that name",
				name, other.ID)
		}
	}
	return nil
}
