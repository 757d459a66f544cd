package client

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// versionsFlags are the flags of versions.
type versionsFlags struct {
	viewFlags
	number int64
	label  string
	erase  bool
}

func versionsCommand(p Process) *cobra.Command {
	var f versionsFlags
	cmd := &cobra.Command{
		Use:   "versions RESOURCE",
		Short: "List the versions of a resource",
		Long: `versions lists the versions of a resource, the newest first: the time and user
of each, and why it is kept. "labshelf get RESOURCE --version N" downloads the
file of a version, and "labshelf restore RESOURCE --version N" makes it the
current one.

With --version N and --label TEXT it labels a version; "" removes the label. A
version with a label is kept whatever "labshelf retention" says. With --version
N and --erase a sysadmin removes the file of a replaced version at once and for
good. Its record stays, and earlier backups still have the file.`,
		Example: `  labshelf versions runs-2026:run-1.csv
  labshelf versions runs-2026:run-1.csv --version 3 --label "as published"`,
		Args: exactly(1, "one resource, such as runs-2026:run-1.csv"),
	}
	flags := cmd.Flags()
	cmd.PreRunE = func(*cobra.Command, []string) error {
		labels := flags.Changed("label")
		switch {
		case f.limit < 0 || flags.Changed("version") && f.number < 1:
			return exit.Usagef("--limit and --version must be numbers, 1 or more")
		case labels && f.erase:
			return exit.Usagef("--label and --erase are different actions: give one or the other")
		case (labels || f.erase) != flags.Changed("version"):
			return exit.Usagef("--version N requires --label TEXT or --erase; to download or restore the version, use \"labshelf get\" or \"labshelf restore\"")
		}
		return nil
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		r, err := reference.FindResource(ctx, c, args[0], client.Active)
		switch {
		case err != nil:
			return err
		case f.erase:
			return p.eraseVersion(ctx, c, r, f)
		case f.number != 0:
			v, err := c.Versions.Label(ctx, r.ID, f.number, f.label)
			if err != nil {
				return err
			}
			return p.done(v, f.json, "Labelled version %d of %s.\n", v.Number, display.Printable(r.Name))
		}
		who := people{c, map[string]string{}}
		return show(p, c.Versions.List(ctx, r.ID, client.ListOptions{Limit: f.page()}), versionColumns(ctx, who), f.view(""))
	})
	flags.Int64Var(&f.number, "version", 0, "`N`, the version to label or erase")
	flags.StringVar(&f.label, "label", "", "`TEXT` of up to 100 characters, the reason to keep the version")
	flags.BoolVar(&f.erase, "erase", false, "remove the file of the version for good")
	flags.BoolVarP(&f.long, "long", "l", false, "also show names and digests; truncate nothing")
	flags.IntVar(&f.limit, "limit", 0, "at most `N` rows (default: all)")
	jsonFlag(cmd, &f.json)
	return p.completes(cmd, false, completion.Resources(client.Active))
}

func (p Process) eraseVersion(ctx context.Context, c *client.Client, r client.Resource, f versionsFlags) error {
	v, err := c.Versions.Erase(ctx, r.ID, f.number)
	if err != nil {
		return err
	}
	note := ""
	if v.Shared {
		note = "Another version or resource, or a running upload, still uses the same bytes.\n"
	}
	return p.done(v, f.json, "Erased the file of version %d of %s.\n%s", v.Number, display.Printable(r.Name), note)
}

func versionColumns(ctx context.Context, who people) []column[client.Version] {
	type v = client.Version
	return []column[v]{
		{"VERSION", 0, func(v v) string { return fmt.Sprint(v.Number) }},
		{"CAME", 0, func(v v) string { return display.Time(v.Created.Time) }},
		{"FROM", 0, func(v v) string { return who.name(ctx, v.CreatedBy) }},
		{"SIZE", 0, func(v v) string { return display.Bytes(v.Bytes) }},
		{"NAME", inLong, func(v v) string { return v.Name }},
		{"LABEL", 0, func(v v) string { return v.Label }},
		{"STATE", 0, func(v v) string {
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
		{"SHA256", inLong, func(v v) string { return v.SHA256.String() }},
	}
}

// people maps ids of users to users.
type people struct {
	client *client.Client
	names  map[string]string
}

// name returns the name of a user, or the id if the user cannot be read.
func (w people) name(ctx context.Context, id string) string {
	if name, known := w.names[id]; known {
		return name
	}
	w.names[id] = id
	if user, err := w.client.Users.Get(ctx, id); err == nil {
		w.names[id] = user.Username
	}
	return w.names[id]
}
