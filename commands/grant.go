package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/client"
)

// roles are the roles in a dataspace, from the least to the most.
func roles() []string { return []string{client.Member, client.Editor, client.Admin} }

func grantCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "grant ROLE DATASPACE USER...",
		Short: "Give people a role in a dataspace",
		Long: `grant gives users a role in a dataspace, in place of the one that they had
there:

  member  reads
  editor  also puts files in, changes, deletes and restores them and their sets
  admin   also changes the dataspace, and says who has a role in it

It takes the role of an admin there. "labshelf dataspace members DATASPACE"
lists who has which role, "labshelf user ls" all users.`,
		Example:     "  labshelf grant editor lab-one mary\n  labshelf grant member lab-one tom ann",
		Args:        atLeast(3, "a role, a dataspace and one or more users, such as: editor lab-one mary"),
		Annotations: p.ExitCodes(6, 130),
	}
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if !slices.Contains(roles(), args[0]) {
			return usagef("the role must be one of %s, not %q", strings.Join(roles(), ", "), args[0])
		}
		return nil
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := findDataspace(ctx, c, args[1])
		if err != nil {
			return err
		}
		return p.each(ctx, args[2:], func(ref string) error {
			u, err := findUser(ctx, c, ref)
			if err != nil {
				return err
			}
			granted, err := c.Grant(ctx, client.NewPrivilege{UserID: u.ID, DataspaceID: d.ID, Role: args[0]})
			if err != nil {
				return err
			}
			return p.done(granted, asJSON, "%s is %s in the dataspace %s.\n", printable(u.Username), printable(granted.Role), printable(d.Name))
		})
	})
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, true, words(roles()...), dataspacesIn(client.Active), usersIn(client.Active))
}

func revokeCommand(p Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "revoke DATASPACE USER...",
		Short: "Take people's role in a dataspace away",
		Long: `revoke takes away the role that users have in a dataspace, at once. Where it is
private they cannot read it any more. It takes the role of an admin there. For
keys there is "labshelf key revoke".`,
		Example:     "  labshelf revoke lab-one mary",
		Args:        atLeast(2, "a dataspace and one or more users, such as: lab-one mary"),
		Annotations: p.ExitCodes(6, 130),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := findDataspace(ctx, c, args[0])
		if err != nil {
			return err
		}
		return p.each(ctx, args[1:], func(ref string) error {
			u, err := findUser(ctx, c, ref)
			if err != nil {
				return err
			}
			return p.revoke(ctx, c, d, u, asJSON)
		})
	})
	jsonFlag(cmd, &asJSON)
	return p.completes(cmd, true, dataspacesIn(client.Active), usersIn(client.Active))
}

func (p Process) revoke(ctx context.Context, c *client.Client, d client.Dataspace, u client.User, asJSON bool) error {
	for granted, err := range c.Privileges(ctx, client.ListOptions{DataspaceID: d.ID, UserID: u.ID}) {
		if err != nil {
			return err
		}
		if err := c.Revoke(ctx, granted.ID); err != nil {
			return err
		}
		if asJSON {
			if granted, err = c.Privilege(ctx, granted.ID); err != nil {
				return err
			}
		}
		return p.done(granted, asJSON, "%s has no role in the dataspace %s any more.\n", printable(u.Username), printable(d.Name))
	}
	_, err := fmt.Fprintf(p.Err, "%s has no role in the dataspace %s.\n", printable(u.Username), printable(d.Name))
	return err
}

func dataspaceMembersCommand(p Process) *cobra.Command {
	var f viewFlags
	cmd := &cobra.Command{
		Use:   "members DATASPACE",
		Short: "List who has which role in a dataspace",
		Long: `members lists who has which role in a dataspace; with --deleted, who had one.
"labshelf grant" gives roles, "labshelf revoke" takes them away. Sysadmins may
do everything without a role, and where the dataspace is public whoever has a
key may read.`,
		Example: "  labshelf dataspace members lab-one",
		Args:    exactly(1, "one dataspace"),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.check() }
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := findDataspace(ctx, c, args[0])
		if err != nil {
			return err
		}
		names := map[string]string{}
		for u, err := range c.Users(ctx, client.ListOptions{State: client.All, Limit: wholePage}) {
			if err != nil {
				return err
			}
			names[u.ID] = u.Username
		}
		columns := []column[client.Privilege]{
			{"ID", inLong, func(p client.Privilege) string { return p.ID }},
			{"USERNAME", 0, func(p client.Privilege) string { return names[p.UserID] }},
			{"ROLE", 0, func(p client.Privilege) string { return p.Role }},
			{"STATE", inState, func(p client.Privilege) string { return p.State }},
		}
		o := client.ListOptions{DataspaceID: d.ID, State: f.state(), Limit: f.page()}
		return show(p, c.Privileges(ctx, o), columns, f.view("Nobody has a role there that you may know of."))
	})
	f.define(cmd)
	return p.completes(cmd, false, dataspacesIn(client.Active))
}
