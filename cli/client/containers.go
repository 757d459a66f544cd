package client

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/people"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func dataspaceCommand(p command.Process) *cobra.Command {
	return p.Branch("dataspace", "Create, change and list dataspaces, and manage their members",
		dataspaceNewCommand(p), dataspaceEditCommand(p), dataspaceListCommand(p), people.MembersCommand(p))
}

func dataspaceNewCommand(p command.Process) *cobra.Command {
	var d client.NewDataspace
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a dataspace, and become its admin",
		Long: `new creates a dataspace: a container for sets, with its own readers and writers.
NAME has 2 to 100 characters: a-z, 0-9, - and _; it is unique and cannot be
changed. You become its admin. "labshelf grant" gives roles to others. All users
can read a public dataspace. Everybody can read an open one, without a key if
the service allows that. By default only sysadmins can create dataspaces.`,
		Example: `  labshelf dataspace new lab-one --title "Laser lab"
  labshelf set new lab-one/runs-2026
  labshelf grant editor lab-one mary`,
		Args: command.Exactly(1, "the name of the new dataspace, such as lab-one"),
	}
	quota := command.QuotaFlag(cmd.Flags())
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkVisibility(d.Visibility) }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d.Name, d.Quota = args[0], quota()
		made, err := c.Dataspaces.Create(ctx, d)
		if err != nil {
			return err
		}
		return p.Done(made, asJSON, "Created the dataspace %s: %s\n", display.Printable(made.Name), reference.PageURL(made.URL))
	})
	cmd.Flags().StringVar(&d.Title, "title", "", command.TitleHelp)
	cmd.Flags().StringVar(&d.Description, "description", "", command.DescriptionHelp)
	cmd.Flags().StringVar(&d.Visibility, "visibility", client.Private, command.VisibilityHelp)
	cmd.Flags().StringVar(&d.Origin, "origin", "", command.OriginHelp)
	command.JSONFlag(cmd, &asJSON)
	p.CompletesFlag(cmd, "visibility", completion.Words(visibilities...))
	return p.Completes(cmd, false)
}

// visibilities are the values of a dataspace's visibility.
var visibilities = []string{client.Private, client.Public, client.Open}

func checkVisibility(text string) error {
	if slices.Contains(visibilities, strings.ToLower(text)) {
		return nil
	}
	return exit.Usagef("--visibility must be private, public or open, not %q", text)
}

func dataspaceEditCommand(p command.Process) *cobra.Command {
	var title, description, visibility, origin string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "edit DATASPACE",
		Short: "Change the fields or the visibility of a dataspace",
		Long: `edit changes the fields given by flags and keeps all others; "" empties a field.
The name cannot be changed. It requires the role admin in the dataspace. Only
sysadmins can change the quota. A quota below the current usage removes nothing,
but nothing can be added. DATASPACE is a name, an id or a URL.`,
		Example: "  labshelf dataspace edit lab-one --visibility public\n  labshelf dataspace edit lab-one --quota 500GiB",
		Args:    command.Exactly(1, "one dataspace"),
	}
	flags := cmd.Flags()
	quota := command.QuotaFlag(flags)
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		edited, err := c.Dataspaces.Edit(ctx, d.ID, client.DataspaceEdit{
			Title: command.Given(flags, "title", &title), Description: command.Given(flags, "description", &description),
			Visibility: command.Given(flags, "visibility", &visibility), Origin: command.Given(flags, "origin", &origin), Quota: quota(),
		})
		if err != nil {
			return err
		}
		return p.Done(edited, asJSON, "Changed the dataspace %s.\n", display.Printable(edited.Name))
	})
	flags.StringVar(&title, "title", "", command.TitleHelp)
	flags.StringVar(&description, "description", "", command.DescriptionHelp)
	flags.StringVar(&visibility, "visibility", "", command.VisibilityHelp)
	flags.StringVar(&origin, "origin", "", command.OriginHelp)
	command.JSONFlag(cmd, &asJSON)
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if flags.Changed("visibility") {
			return checkVisibility(visibility)
		}
		return command.WantOne(flags, "title", "description", "visibility", "origin", "quota")(cmd, args)
	}
	p.CompletesFlag(cmd, "visibility", completion.Words(visibilities...))
	return p.Completes(cmd, false, completion.Dataspaces(client.Active))
}

func dataspaceListCommand(p command.Process) *cobra.Command {
	var f command.ViewFlags
	var visibility, origin string
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List dataspaces",
		Long: `ls lists the dataspaces that you can read, the oldest first. "labshelf ls
DATASPACE" lists the sets of one.`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if flags.Changed("visibility") {
			if err := checkVisibility(visibility); err != nil {
				return err
			}
		}
		return f.Check()
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		o := client.ListOptions{State: f.State(), Limit: f.Page(), Visibility: visibility, Origin: command.Given(flags, "origin", &origin)}
		return command.Show(p, c.Dataspaces.List(ctx, o), command.DataspaceColumns(), f.View(noDataspaces))
	})
	f.Define(cmd)
	flags.StringVar(&visibility, "visibility", "", "only dataspaces with this `VISIBILITY`: private, public or open")
	flags.StringVar(&origin, "origin", "", "only dataspaces with exactly the origin `TEXT`; \"\" selects dataspaces without an origin")
	p.CompletesFlag(cmd, "visibility", completion.Words(visibilities...))
	return cmd
}

func retentionCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "retention DATASPACE [everything | last N | N days]",
		Short: "Show or set how long the versions of files are kept",
		Long: `retention shows which versions of the resources of a dataspace are kept, or sets
it: everything; the last N versions of each resource, including the current one;
or the versions replaced less than N days ago. A version with a label is always
kept.

The command itself removes nothing. "labshelf purge" later removes the files of
the other versions, and lists them with --dry-run. The records of the versions
stay. Setting the retention requires the role admin in the dataspace.`,
		Example: `  labshelf retention lab-one
  labshelf retention lab-one last 5
  labshelf retention lab-one 90 days`,
		Args: command.Between(1, 3, "a dataspace, and optionally the retention, such as last 5"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		if len(args) > 1 {
			rule := strings.Join(args[1:], " ")
			if d, err = c.Dataspaces.Edit(ctx, d.ID, client.DataspaceEdit{Retention: &rule}); err != nil {
				return err
			}
		}
		return p.Done(d, asJSON, "%s keeps %s.\n", display.Printable(d.Name), display.Printable(keeps(d.Retention)))
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, completion.Dataspaces(client.Active), completion.Words("everything", "last", "90"))
}

// keeps describes a retention in words.
func keeps(retention string) string {
	if n, last := strings.CutPrefix(retention, "last "); last {
		return "the last " + n + " of the versions of each file"
	}
	if n, days := strings.CutSuffix(retention, " days"); days {
		return "the versions replaced less than " + n + " days ago"
	}
	return "every version"
}

func setCommand(p command.Process) *cobra.Command {
	return p.Branch("set", "Create, change and list sets", setNewCommand(p), setEditCommand(p), setListCommand(p))
}

func setNewCommand(p command.Process) *cobra.Command {
	var s client.NewSet
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new DATASPACE/NAME",
		Short: "Create a set in a dataspace",
		Long: `new creates a set in a dataspace. NAME has 2 to 100 characters: a-z, 0-9, - and
_; it is unique in the service and cannot be changed. The title is for display,
and can be changed. It requires the role editor or admin in the dataspace.`,
		Example: `  labshelf set new lab-one/runs-2026 --title "Runs of 2026"`,
		Args:    command.Exactly(1, "a dataspace and the name of the set, such as lab-one/runs-2026"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		slash := strings.LastIndexByte(args[0], '/') // at the last slash, since a dataspace may be a URL
		if slash <= 0 || slash == len(args[0])-1 {
			return exit.Usagef("%q must be a dataspace and the name of the set, such as lab-one/runs-2026", args[0])
		}
		d, err := reference.FindDataspace(ctx, c, args[0][:slash], client.Active)
		if err != nil {
			return err
		}
		s.Name, s.DataspaceID = args[0][slash+1:], d.ID
		made, err := c.Sets.Create(ctx, s)
		if err != nil {
			return err
		}
		return p.Done(made, asJSON, "Created the set %s in the dataspace %s: %s\n", display.Printable(made.Name), display.Printable(d.Name), reference.PageURL(made.URL))
	})
	cmd.Flags().StringVar(&s.Title, "title", "", command.TitleHelp)
	cmd.Flags().StringVar(&s.Description, "description", "", command.DescriptionHelp)
	extractFlag(p, cmd, &s.Extract)
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, completion.IntoDataspaces)
}

func setEditCommand(p command.Process) *cobra.Command {
	var title, description string
	var extract []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "edit SET",
		Short: "Change the title, description or property sources of a set",
		Long: `edit changes the fields given by flags and keeps all others; "" empties a field.
The name and dataspace of a set cannot be changed. SET is a name, an id, a URL
or DATASPACE/TITLE; see "labshelf help references".

With --extract, the properties of the set's files, including existing files, are
filled from their sidecars (run.csv.json for run.csv), from their headers, or
from both. Values that people set stay. --extract "" turns this off, and keeps
the filled values.`,
		Example: `  labshelf set edit runs-2026 --title "Runs of 2026, calibrated"
  labshelf set edit runs-2026 --extract sidecar,header`,
		Args: command.Exactly(1, "one set"),
	}
	flags := cmd.Flags()
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		s, err := reference.FindSet(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		edited, err := c.Sets.Edit(ctx, s.ID, client.SetEdit{
			Title: command.Given(flags, "title", &title), Description: command.Given(flags, "description", &description), Extract: extract,
		})
		if err != nil {
			return err
		}
		return p.Done(edited, asJSON, "Changed the set %s.\n", display.Printable(edited.Name))
	})
	flags.StringVar(&title, "title", "", command.TitleHelp)
	flags.StringVar(&description, "description", "", command.DescriptionHelp)
	extractFlag(p, cmd, &extract)
	command.JSONFlag(cmd, &asJSON)
	cmd.PreRunE = command.WantOne(flags, "title", "description", "extract")
	return p.Completes(cmd, false, completion.Sets(client.Active))
}

func extractFlag(p command.Process, cmd *cobra.Command, extract *[]string) {
	cmd.Flags().StringSliceVar(extract, "extract", nil, "fill properties of files from `SOURCES`: sidecar, header, or both with a comma")
	p.CompletesFlag(cmd, "extract", completion.Words(client.Sidecar, client.Header, client.Sidecar+","+client.Header))
}

func setListCommand(p command.Process) *cobra.Command {
	var f command.ViewFlags
	cmd := &cobra.Command{
		Use:   "ls [DATASPACE]",
		Short: "List sets, of one dataspace or all",
		Long: `ls lists the sets of a dataspace, or all sets that you can read, the oldest
first. "labshelf ls SET" lists the content of a set.`,
		Example: "  labshelf set ls\n  labshelf set ls lab-one --all",
		Args:    command.AtMost(1, "one dataspace"),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.Check() }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) > 0 {
			d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
			if err != nil {
				return err
			}
			return showSetsOf(ctx, p, c, f, d)
		}
		names, err := reference.DataspaceNames(ctx, c)
		if err != nil {
			return err
		}
		v := f.View(`There are no such sets. "labshelf set new DATASPACE/NAME" creates one.`)
		v.Also |= command.InMany
		return command.Show(p, c.Sets.List(ctx, client.ListOptions{State: f.State(), Limit: f.Page()}), command.SetColumns(names), v)
	})
	f.Define(cmd)
	return p.Completes(cmd, false, completion.Dataspaces(client.Active))
}
