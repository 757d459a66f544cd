package client

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func lsCommand(p command.Process) *cobra.Command {
	var f lsFlags
	cmd := &cobra.Command{
		Use:   "ls [DATASPACE | SET | SET/[FOLDER/] | RESOURCE]",
		Short: "List dataspaces, the sets of one, or the resources of a set",
		Long: `ls lists the dataspaces that you can read; with the name of a dataspace, its
sets; with the name of a set, its resources. If a dataspace and a set have the
same name, ls lists the dataspace: write the set as DATASPACE/SET. With
SET:NAME, ls shows one resource. Ids and URLs work, too; see "labshelf help
references". With SET/ or SET/FOLDER/, ls shows one folder of a set: the files
directly in it, and its subfolders with a slash at the end.

With --resources, ls lists the resources of a dataspace, or all resources that
you can read, instead of sets or dataspaces.

Resources of one set are sorted by name. Others, and listings with a time, are
sorted by modification, the newest first. --order changes this. Times are in
your time zone, unless they end with Z or an offset. A date without a time means
the beginning of the day.`,
		Example: `  labshelf ls
  labshelf ls lab-one
  labshelf ls lab-one/runs-2026/2026/11/
  labshelf ls runs-2026 --name-prefix 2026/11/
  labshelf ls --resources --limit 20
  labshelf ls --long runs-2026 --since 2026-11-01 --until 2026-12-01
  labshelf ls --json --all runs-2026`,
		Args: command.AtMost(1, "one dataspace, set or resource"),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.check() }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if len(args) == 0 {
			return lsTop(ctx, p, c, f)
		}
		return lsOne(ctx, p, c, f, args[0])
	})
	flags := cmd.Flags()
	f.Define(cmd)
	flags.BoolVarP(&f.resources, "resources", "r", false, "list resources instead of the sets or dataspaces that contain them")
	flags.StringVar(&f.order, "order", "", "sort resources by `WORD`: name or name-descending (only in a set), or newest or oldest modification first")
	flags.StringVar(&f.prefix, "name-prefix", "", "only resources of a set whose names begin with `TEXT`")
	flags.StringVar(&f.since, "since", "", "only resources modified after `TIME`, such as 2026-12-31 or \"2026-12-31 18:00\"")
	flags.StringVar(&f.until, "until", "", "only resources modified before `TIME`")
	p.Completes(cmd, false, completion.Either(completion.Dataspaces(client.Active), completion.SetsOrResources))
	p.CompletesFlag(cmd, "order", completion.Words("name", "name-descending", "newest", "oldest"))
	return cmd
}

// lsFlags are the flags of ls.
type lsFlags struct {
	command.ViewFlags
	resources                   bool
	order, prefix, since, until string
	from, to                    time.Time // parsed since and until
}

// check parses the flags, and rejects combinations that the service would reject.
func (f *lsFlags) check() (err error) {
	if err := f.ViewFlags.Check(); err != nil {
		return err
	}
	switch f.order {
	case "", "name", "name-descending", "newest", "oldest":
	default:
		return exit.Usagef("--order must be name, name-descending, newest or oldest, not %q", f.order)
	}
	if f.from, err = command.InstantOf("since", f.since); err != nil {
		return err
	}
	if f.to, err = command.InstantOf("until", f.until); err != nil {
		return err
	}
	byTime := f.since != "" || f.until != "" || f.order == "newest" || f.order == "oldest"
	if byTime && (f.prefix != "" || strings.HasPrefix(f.order, "name")) {
		return exit.Usagef("--name-prefix and --order name sort by name, --since, --until and the other orders sort by time: give one or the other")
	}
	return nil
}

// forResources returns a given flag that only listings of resources have, or "".
func (f *lsFlags) forResources() string {
	for _, flag := range [][2]string{{"order", f.order}, {"name-prefix", f.prefix}, {"since", f.since}, {"until", f.until}} {
		if flag[1] != "" {
			return flag[0]
		}
	}
	return ""
}

// inSet returns a given flag that only listings of the resources of one set have, or "".
func (f *lsFlags) inSet() string {
	switch {
	case strings.HasPrefix(f.order, "name"):
		return "order " + f.order
	case f.prefix != "":
		return "name-prefix"
	}
	return ""
}

// options returns the options for a listing of resources. byName selects the order by name unless
// the flags say otherwise.
func (f *lsFlags) options(byName bool) client.ListOptions {
	o := client.ListOptions{State: f.State(), Limit: f.Page(), Order: f.order, NamePrefix: f.prefix, Since: f.from, Until: f.to}
	switch {
	case o.Order != "":
	case byName && f.since == "" && f.until == "":
		o.Order = "name"
	default:
		o.Order = "newest"
	}
	return o
}

// lsTop lists dataspaces, or the resources of all dataspaces.
func lsTop(ctx context.Context, p command.Process, c *client.Client, f lsFlags) error {
	if !f.resources {
		if flag := f.forResources(); flag != "" {
			return exit.Usagef("--%s is for resources: name a set, or give --resources", flag)
		}
		return command.Show(p, c.Dataspaces.List(ctx, client.ListOptions{State: f.State(), Limit: f.Page()}), command.DataspaceColumns(), f.View(noDataspaces))
	}
	if flag := f.inSet(); flag != "" {
		return exit.Usagef("--%s is for the resources of one set: name the set", flag)
	}
	return lsMany(ctx, p, c, f, "")
}

// noDataspaces is shown to a user who can read no dataspace.
const noDataspaces = `There are no dataspaces that you can read. "labshelf dataspace new NAME" creates
one. Or ask an admin to give you a role in an existing one: "labshelf help
grant".`

// lsMany lists the resources of one dataspace, or of all.
func lsMany(ctx context.Context, p command.Process, c *client.Client, f lsFlags, dataspaceID string) error {
	o, names, err := f.options(false), map[string]string(nil), error(nil)
	if !f.JSON {
		if names, err = command.SetNames(ctx, c, dataspaceID); err != nil {
			return err
		}
	}
	o.DataspaceID = dataspaceID
	v := f.View("There are no such resources here.")
	v.Also |= command.InMany
	return command.Show(p, c.Resources.List(ctx, o), command.ResourceColumns(names, f.Long), v)
}

// lsOne lists the content of a dataspace or a set, or one resource.
func lsOne(ctx context.Context, p command.Process, c *client.Client, f lsFlags, ref string) error {
	if strings.HasSuffix(ref, "/") {
		if s, folder, found, err := reference.LookupFolder(ctx, c, ref); found || err != nil {
			return cmp.Or(err, lsFolder(ctx, p, c, f, s, folder))
		}
	}
	d, s, r, err := reference.FindAny(ctx, c, ref)
	switch {
	case err != nil:
		return err
	case d != nil:
		return lsDataspace(ctx, p, c, f, *d)
	case s != nil:
		v := f.View(nothingIn("resources", "set", s.Name, s.State))
		return command.Show(p, c.Sets.Resources(ctx, s.ID, f.options(true)), command.ResourceColumns(nil, f.Long), v)
	}
	v := f.View("")
	if r.State != client.Active {
		v.Also |= command.InState
	}
	return command.Show(p, command.Only(*r), command.ResourceColumns(nil, f.Long), v)
}

// lsFolder lists the direct content of a folder of a set.
func lsFolder(ctx context.Context, p command.Process, c *client.Client, f lsFlags, s client.Set, folder string) error {
	o := f.options(true)
	if o.Order == "newest" || o.Order == "oldest" {
		return exit.Usagef("a folder is listed by name: omit --since, --until and other orders, or omit the slash at the end")
	}
	if o.NamePrefix != "" && !strings.HasPrefix(o.NamePrefix, folder) {
		return exit.Usagef("--name-prefix must begin with the folder, %s", folder)
	}
	o.NamePrefix = cmp.Or(o.NamePrefix, folder)
	return command.Show(p, c.Sets.Children(ctx, s.ID, o), childColumns(f.Long), f.View("This folder is empty."))
}

// childColumns returns the columns of resources. Folders only fill the column with the path.
func childColumns(exact bool) (all []command.Column[client.Child]) {
	for _, of := range command.ResourceColumns(nil, exact) {
		cell := func(child client.Child) string {
			switch {
			case child.Folder == nil:
				return of.Cell(child.Resource)
			case of.Head == "NAME":
				return child.Folder.Path
			}
			return ""
		}
		all = append(all, command.Column[client.Child]{Head: of.Head, Only: of.Only, Cell: cell})
	}
	return all
}

func lsDataspace(ctx context.Context, p command.Process, c *client.Client, f lsFlags, d client.Dataspace) error {
	if f.resources {
		if flag := f.inSet(); flag != "" {
			return exit.Usagef("--%s is for the resources of one set: name the set", flag)
		}
		return lsMany(ctx, p, c, f, d.ID)
	}
	if flag := f.forResources(); flag != "" {
		return exit.Usagef("--%s is for resources, but %s is a dataspace: name a set, or give --resources", flag, d.Name)
	}
	return showSetsOf(ctx, p, c, f.ViewFlags, d)
}

// showSetsOf lists the sets of a dataspace.
func showSetsOf(ctx context.Context, p command.Process, c *client.Client, f command.ViewFlags, d client.Dataspace) error {
	v := f.View(nothingIn("sets", "dataspace", d.Name, d.State))
	return command.Show(p, c.Dataspaces.Sets(ctx, d.ID, client.ListOptions{State: f.State(), Limit: f.Page()}), command.SetColumns(nil), v)
}

// nothingIn returns the text for an empty set or dataspace.
func nothingIn(what, in, name, state string) string {
	name = display.Printable(name)
	if state == client.Deleted {
		return fmt.Sprintf("The %s %s is deleted. \"labshelf ls --deleted %[2]s\" lists its former content, \"labshelf restore --%[1]s %[2]s\" restores it.", in, name)
	}
	return fmt.Sprintf("There are no such %s in the %s %s.", what, in, name)
}
