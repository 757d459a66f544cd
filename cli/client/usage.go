package client

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// nearlyFull is the percentage of a quota from which users are warned.
const nearlyFull = 80

// usageRow is the usage of a dataspace, or of a user.
type usageRow struct {
	Dataspace string `json:"dataspace,omitempty"`
	User      string `json:"user,omitempty"`
	Used      int64  `json:"used"` // bytes
	Quota     int64  `json:"quota,omitempty"`
	*client.Counters
}

// whose returns the name of the dataspace or user for display.
func (r usageRow) whose() string {
	if r.User != "" {
		return "user " + r.User
	}
	return r.Dataspace
}

// percent returns the used percentage of the quota.
func (r usageRow) percent() int64 { return int64(float64(r.Used) / float64(r.Quota) * 100) }

func usageCommand(p command.Process) *cobra.Command {
	var asJSON bool
	var user string
	cmd := &cobra.Command{
		Use:   "usage [DATASPACE]",
		Short: "Show the usage of dataspaces and quotas",
		Long: `usage shows the usage of the dataspaces that you can read, or of one of them,
and your own usage. Each file counts in full, even if another file has the same
content. Deleted files and old versions count until they are purged. The column
USED has the sum. A version counts for the user who stored it, not for the user
who created the file. Members see the quota of a dataspace, users their own;
"labshelf dataspace edit --quota" and "labshelf user edit --quota" set them.

usage prints a warning if 80 % of a quota are used.`,
		Example: "  labshelf usage\n  labshelf usage lab-one\n  labshelf usage --user mary",
		Args:    command.Between(0, 1, "one dataspace, or none for all"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		rows, err := usageRows(ctx, c, args, user)
		if err == nil {
			err = command.Show(p, all(rows), usageColumns(), command.View{JSON: asJSON})
		}
		for _, r := range rows {
			if err == nil && !asJSON && r.Quota > 0 && r.percent() >= nearlyFull {
				_, err = display.Fprintf(p.Err, "Warning: %d %% of the quota of %s are used. Ask a sysadmin to purge deleted files and old versions, or for a larger quota.\n",
					r.percent(), display.Printable(r.whose()))
			}
		}
		return err
	})
	cmd.Flags().StringVar(&user, "user", "", "only the usage of this `USER`; sysadmins can name any user")
	command.JSONFlag(cmd, &asJSON)
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if user != "" && len(args) > 0 {
			return exit.Usagef("--user excludes a dataspace: give one or the other")
		}
		return nil
	}
	p.CompletesFlag(cmd, "user", completion.Users(client.Active))
	return p.Completes(cmd, false, completion.Dataspaces(client.Active))
}

// all yields the records of a slice as a listing.
func all[T any](records []T) func(yield func(T, error) bool) {
	return func(yield func(T, error) bool) {
		for _, record := range records {
			if !yield(record, nil) {
				return
			}
		}
	}
}

// usageRows requests the usage of one dataspace, of a user, or of all dataspaces and the caller.
func usageRows(ctx context.Context, c *client.Client, args []string, user string) (rows []usageRow, err error) {
	if len(args) > 0 {
		d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
		if err != nil {
			return nil, err
		}
		u, err := c.Dataspaces.Usage(ctx, d.ID)
		return []usageRow{{Dataspace: d.Name, Used: u.Bytes(), Quota: u.Quota, Counters: &u.Counters}}, err
	}
	if user == "" {
		if rows, err = allUsage(ctx, c); err != nil {
			return nil, err
		}
		user = client.Me
	}
	id, err := reference.UserID(ctx, c, user)
	if err != nil {
		return nil, err
	}
	u, err := c.Users.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	share, err := c.Users.Usage(ctx, id)
	return append(rows, usageRow{User: u.Username, Used: share.Used, Quota: share.Quota}), err
}

func allUsage(ctx context.Context, c *client.Client) (rows []usageRow, err error) {
	usage, err := c.Usage(ctx)
	if err != nil {
		return nil, err
	}
	names, err := reference.DataspaceNames(ctx, c)
	for _, u := range usage.Dataspaces {
		rows = append(rows, usageRow{Dataspace: names[u.DataspaceID], Used: u.Bytes(), Quota: u.Quota, Counters: &u.Counters})
	}
	slices.SortStableFunc(rows, func(a, b usageRow) int { return int(min(max(b.Used-a.Used, -1), 1)) })
	return rows, err
}

func usageColumns() []command.Column[usageRow] {
	type r = usageRow
	count := func(bytes func(client.Counters) int64) func(r) string {
		return func(r r) string {
			if r.Counters == nil {
				return ""
			}
			return display.Bytes(bytes(*r.Counters))
		}
	}
	return []command.Column[r]{
		{Head: "OF", Cell: r.whose},
		{Head: "FILES", Cell: func(r r) string {
			if r.Counters == nil {
				return ""
			}
			return strconv.FormatInt(r.ActiveFiles, 10)
		}},
		{Head: "SIZE", Cell: count(func(c client.Counters) int64 { return c.ActiveBytes })},
		{Head: "DELETED", Cell: count(func(c client.Counters) int64 { return c.DeletedBytes })},
		{Head: "OLD VERSIONS", Cell: count(func(c client.Counters) int64 { return c.OldBytes })},
		{Head: "USED", Cell: func(r r) string { return display.Bytes(r.Used) }},
		{Head: "QUOTA", Cell: func(r r) string {
			if r.Quota == 0 {
				return ""
			}
			return fmt.Sprintf("%s (%d %%)", display.Bytes(r.Quota), r.percent())
		}},
	}
}
