package people

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// GrantCommand returns the command grant.
func GrantCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "grant ROLE DATASPACE USER...",
		Short: "Give users a role in a dataspace",
		Long: `grant gives users a role in a dataspace, which replaces their current role
there:

  member  reads
  editor  also adds, changes, deletes and restores files and sets
  admin   also changes the dataspace, and grants and revokes roles in it

It requires the role admin there. "labshelf dataspace members DATASPACE" lists
the users with a role, "labshelf user ls" lists all users.`,
		Example:     "  labshelf grant editor lab-one mary\n  labshelf grant member lab-one tom ann",
		Args:        command.AtLeast(3, "a role, a dataspace and one or more users, such as: editor lab-one mary"),
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	}
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if !slices.Contains(command.Roles(), args[0]) {
			return exit.Usagef("the role must be one of %s, not %q", strings.Join(command.Roles(), ", "), args[0])
		}
		return nil
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := reference.FindDataspace(ctx, c, args[1], client.Active)
		if err != nil {
			return err
		}
		return p.Each(ctx, args[2:], func(ref string) error {
			u, err := reference.FindUser(ctx, c, ref)
			if err != nil {
				return err
			}
			granted, err := c.Privileges.Grant(ctx, client.NewPrivilege{UserID: u.ID, DataspaceID: d.ID, Role: args[0]})
			if err != nil {
				return err
			}
			return p.Done(granted, asJSON, "%s is %s in the dataspace %s.\n", display.Printable(u.Username), display.Printable(granted.Role), display.Printable(d.Name))
		})
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, true, completion.Words(command.Roles()...), completion.Dataspaces(client.Active), completion.Users(client.Active))
}

// RevokeCommand returns the command revoke.
func RevokeCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "revoke DATASPACE USER...",
		Short: "Revoke the role of users in a dataspace",
		Long: `revoke removes the role of users in a dataspace, with immediate effect. They can
no longer read it if it is private. It requires the role admin there. To revoke
keys, use "labshelf key revoke".`,
		Example:     "  labshelf revoke lab-one mary",
		Args:        command.AtLeast(2, "a dataspace and one or more users, such as: lab-one mary"),
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		return p.Each(ctx, args[1:], func(ref string) error {
			u, err := reference.FindUser(ctx, c, ref)
			if err != nil {
				return err
			}
			return revoke(ctx, p, c, d, u, asJSON)
		})
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, true, completion.Dataspaces(client.Active), completion.Users(client.Active))
}

func revoke(ctx context.Context, p command.Process, c *client.Client, d client.Dataspace, u client.User, asJSON bool) error {
	for granted, err := range c.Privileges.List(ctx, client.ListOptions{DataspaceID: d.ID, UserID: u.ID}) {
		if err != nil {
			return err
		}
		if err := c.Privileges.Revoke(ctx, granted.ID); err != nil {
			return err
		}
		if asJSON {
			if granted, err = c.Privileges.Get(ctx, granted.ID); err != nil {
				return err
			}
		}
		return p.Done(granted, asJSON, "%s no longer has a role in the dataspace %s.\n", display.Printable(u.Username), display.Printable(d.Name))
	}
	_, err := display.Fprintf(p.Err, "%s has no role in the dataspace %s.\n", display.Printable(u.Username), display.Printable(d.Name))
	return err
}

// MembersCommand returns the subcommand members of the command dataspace.
func MembersCommand(p command.Process) *cobra.Command {
	var f command.ViewFlags
	cmd := &cobra.Command{
		Use:   "members DATASPACE",
		Short: "List the users with a role in a dataspace",
		Long: `members lists the users with a role in a dataspace, or with --deleted the users
whose role was revoked. "labshelf grant" gives roles, "labshelf revoke" removes
them. Sysadmins need no role, and all users can read a public dataspace.`,
		Example: "  labshelf dataspace members lab-one",
		Args:    command.Exactly(1, "one dataspace"),
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.Check() }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		names := map[string]string{}
		for u, err := range c.Users.List(ctx, client.ListOptions{State: client.All, Limit: reference.PageSize}) {
			if err != nil {
				return err
			}
			names[u.ID] = u.Username
		}
		columns := []command.Column[client.Privilege]{
			{Head: "ID", Only: command.InLong, Cell: func(p client.Privilege) string { return p.ID }},
			{Head: "USERNAME", Cell: func(p client.Privilege) string { return names[p.UserID] }},
			{Head: "ROLE", Cell: func(p client.Privilege) string { return p.Role }},
			{Head: "STATE", Only: command.InState, Cell: func(p client.Privilege) string { return p.State }},
		}
		o := client.ListOptions{DataspaceID: d.ID, State: f.State(), Limit: f.Page()}
		return command.Show(p, c.Privileges.List(ctx, o), columns, f.View("There are no roles that you can see."))
	})
	f.Define(cmd)
	return p.Completes(cmd, false, completion.Dataspaces(client.Active))
}
