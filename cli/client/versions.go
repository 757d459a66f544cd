package client

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// versionsFlags are the flags of versions.
type versionsFlags struct {
	command.ViewFlags
	number int64
	label  string
	erase  bool
}

func versionsCommand(p command.Process) *cobra.Command {
	var f versionsFlags
	cmd := &cobra.Command{
		Use:   "versions RESOURCE",
		Short: "List the versions of a resource",
		Long: `versions lists the versions of a resource, the newest first: the time and user
of each, and why it is kept. "labshelf get RESOURCE --version N" downloads the
file of a version, and "labshelf restore RESOURCE --version N" makes it the
current one.

With --version N and --label TEXT it labels a version; "" removes the label. A
version with a label is always kept, even if "labshelf retention" would remove
it. With --version N and --erase, a sysadmin removes the file of a replaced
version immediately and permanently. Its record stays, and earlier backups still
contain the file.`,
		Example: `  labshelf versions runs-2026:run-1.csv
  labshelf versions runs-2026:run-1.csv --version 3 --label "as published"`,
		Args: command.Exactly(1, "one resource, such as runs-2026:run-1.csv"),
	}
	flags := cmd.Flags()
	cmd.PreRunE = func(*cobra.Command, []string) error {
		labels := flags.Changed("label")
		switch {
		case f.Limit < 0 || flags.Changed("version") && f.number < 1:
			return exit.Usagef("--limit and --version must be numbers, 1 or more")
		case labels && f.erase:
			return exit.Usagef("--label and --erase are different actions: give one or the other")
		case (labels || f.erase) != flags.Changed("version"):
			return exit.Usagef("--version N requires --label TEXT or --erase; to download or restore the version, use \"labshelf get\" or \"labshelf restore\"")
		}
		return nil
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := reference.FindResource(ctx, c, args[0], client.Active)
		switch {
		case err != nil:
			return err
		case f.erase:
			return eraseVersion(ctx, p, c, r, f)
		case f.number != 0:
			v, err := c.Versions.Label(ctx, r.ID, f.number, f.label)
			if err != nil {
				return err
			}
			return p.Done(v, f.JSON, "Labelled version %d of %s.\n", v.Number, display.Printable(r.Name))
		}
		who := command.UserNames{Client: c, Names: map[string]string{}}
		return command.Show(p, c.Versions.List(ctx, r.ID, client.ListOptions{Limit: f.Page()}), versionColumns(ctx, who), f.View(""))
	})
	flags.Int64Var(&f.number, "version", 0, "label or erase version `N`")
	flags.StringVar(&f.label, "label", "", "label `TEXT` of up to 100 characters, such as the reason to keep the version")
	flags.BoolVar(&f.erase, "erase", false, "permanently remove the file of the version")
	flags.BoolVarP(&f.Long, "long", "l", false, "also show names and digests; truncate nothing")
	flags.IntVar(&f.Limit, "limit", 0, "at most `N` rows (default: all)")
	command.JSONFlag(cmd, &f.JSON)
	return p.Completes(cmd, false, completion.Resources(client.Active))
}

func eraseVersion(ctx context.Context, p command.Process, c *client.Client, r client.Resource, f versionsFlags) error {
	v, err := c.Versions.Erase(ctx, r.ID, f.number)
	if err != nil {
		return err
	}
	note := ""
	if v.Shared {
		note = "Another version or resource, or a running upload, still uses the same bytes.\n"
	}
	return p.Done(v, f.JSON, "Erased the file of version %d of %s.\n%s", v.Number, display.Printable(r.Name), note)
}

func versionColumns(ctx context.Context, who command.UserNames) []command.Column[client.Version] {
	type v = client.Version
	return []command.Column[v]{
		{Head: "VERSION", Cell: func(v v) string { return fmt.Sprint(v.Number) }},
		{Head: "CAME", Cell: func(v v) string { return display.Time(v.Created.Time) }},
		{Head: "FROM", Cell: func(v v) string { return who.Name(ctx, v.CreatedBy) }},
		{Head: "SIZE", Cell: func(v v) string { return display.Bytes(v.Bytes) }},
		{Head: "NAME", Only: command.InLong, Cell: func(v v) string { return v.Name }},
		{Head: "LABEL", Cell: func(v v) string { return v.Label }},
		{Head: "STATE", Cell: func(v v) string {
			switch {
			case v.Rule != "":
				return "removed " + display.Time(v.Removed.Time) + ", " + v.Rule
			case v.Damaged:
				return "damaged"
			case v.Current:
				return "current"
			}
			return ""
		}},
		{Head: "SHA256", Only: command.InLong, Cell: func(v v) string { return v.SHA256.String() }},
	}
}
