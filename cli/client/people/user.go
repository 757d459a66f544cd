// Package people has the commands for users, their API keys and their roles.
package people

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

// UserCommand returns the command user with its subcommands.
func UserCommand(p command.Process) *cobra.Command {
	return p.Branch("user", "Create, change, list, delete and restore users",
		userNewCommand(p), userEditCommand(p), userListCommand(p), userRemoveCommand(p), userRestoreCommand(p))
}

func userNewCommand(p command.Process) *cobra.Command {
	var u client.NewUser
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a user",
		Long: `new creates a user, as a sysadmin. NAME has 1 to 100 letters, digits, and . _ -
@; it is unique without regard to case, and cannot be changed. A new user has no
key and no role: create a key with "labshelf key new", and give a role with
"labshelf grant".`,
		Example: `  labshelf user new mary --fullname "Mary Ward"
  labshelf key new --user mary
  labshelf grant editor lab-one mary`,
		Args: command.Exactly(1, "the name of the new user"),
	}
	quota := command.QuotaFlag(cmd.Flags())
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		u.Username, u.Quota = args[0], quota()
		made, err := c.Users.Create(ctx, u)
		if err != nil {
			return err
		}
		name := display.Printable(made.Username)
		return p.Done(made, asJSON, "Created the user %s. For a key: labshelf key new --user %[1]s\n", name)
	})
	cmd.Flags().StringVar(&u.Fullname, "fullname", "", fullnameHelp)
	cmd.Flags().StringVar(&u.About, "about", "", command.DescriptionHelp)
	cmd.Flags().BoolVar(&u.Sysadmin, "sysadmin", false, "make the user a sysadmin, with all permissions")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false)
}

const fullnameHelp = "`TEXT` of up to 500 characters"

func userEditCommand(p command.Process) *cobra.Command {
	var fullname, about string
	var sysadmin, asJSON bool
	cmd := &cobra.Command{
		Use:   "edit USER",
		Short: "Change the fields of a user, or make the user a sysadmin",
		Long: `edit changes the fields given by flags and keeps all others; "" empties a field.
The username cannot be changed. You can change your own fields (USER is "me"); a
sysadmin can change all users. A quota limits the total size of the user's
files; see "labshelf usage".`,
		Example: `  labshelf user edit me --fullname "Mary Ward"
  labshelf user edit mary --sysadmin
  labshelf user edit mary --sysadmin=false
  labshelf user edit mary --quota 100GiB`,
		Args: command.Exactly(1, "one user"),
	}
	flags := cmd.Flags()
	quota := command.QuotaFlag(flags)
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := reference.UserID(ctx, c, args[0])
		if err != nil {
			return err
		}
		edited, err := c.Users.Edit(ctx, id, client.UserEdit{
			Fullname: command.Given(flags, "fullname", &fullname), About: command.Given(flags, "about", &about), Sysadmin: command.Given(flags, "sysadmin", &sysadmin), Quota: quota(),
		})
		if err != nil {
			return err
		}
		return p.Done(edited, asJSON, "Changed the user %s.\n", display.Printable(edited.Username))
	})
	flags.StringVar(&fullname, "fullname", "", fullnameHelp)
	flags.StringVar(&about, "about", "", command.DescriptionHelp)
	flags.BoolVar(&sysadmin, "sysadmin", false, "make the user a sysadmin; --sysadmin=false revokes this")
	command.JSONFlag(cmd, &asJSON)
	cmd.PreRunE = command.WantOne(flags, "fullname", "about", "sysadmin", "quota")
	return p.Completes(cmd, false, completion.Users(client.Active))
}

func userListCommand(p command.Process) *cobra.Command {
	var f command.ViewFlags
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List users",
		Long: `ls lists all users, the oldest first. Sysadmins see which users are sysadmins;
other users see it only for themselves.`,
		Args: cobra.NoArgs,
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.Check() }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		return command.Show(p, c.Users.List(ctx, client.ListOptions{State: f.State(), Limit: f.Page()}), command.UserColumns(), f.View("There are no such users."))
	})
	f.Define(cmd)
	return cmd
}

func userRemoveCommand(p command.Process) *cobra.Command {
	return userStateCommand(p, &cobra.Command{
		Use:   "rm USER...",
		Short: "Delete users, and permanently revoke their keys",
		Long: `rm deletes users, as a sysadmin. Their keys are revoked immediately and
permanently. Their files stay. "labshelf user restore" restores a user with the
same roles, but without keys.`,
		Example: "  labshelf user rm mary",
	}, client.Deleted, func(ctx context.Context, c *client.Client, u client.User) (client.User, string, error) {
		note := fmt.Sprintf("Deleted the user %s. To restore it: labshelf user restore %[1]s\n", display.Printable(u.Username))
		if err := c.Users.Delete(ctx, u.ID); err != nil {
			return u, "", err
		}
		deleted, err := c.Users.Get(ctx, u.ID)
		return deleted, note, err
	})
}

func userRestoreCommand(p command.Process) *cobra.Command {
	return userStateCommand(p, &cobra.Command{
		Use:   "restore USER...",
		Short: "Restore deleted users, without their keys",
		Long: `restore restores deleted users, as a sysadmin. Their keys stay revoked: create
new ones with "labshelf key new --user NAME".`,
		Example: "  labshelf user restore mary",
	}, client.Active, func(ctx context.Context, c *client.Client, u client.User) (client.User, string, error) {
		note := fmt.Sprintf("Restored the user %s. For a key: labshelf key new --user %[1]s\n", display.Printable(u.Username))
		restored, err := c.Users.Restore(ctx, u.ID)
		return restored, note, err
	})
}

// userStateCommand completes a command that changes the state of users; change returns the user in
// the new state, and a note for display.
func userStateCommand(p command.Process, cmd *cobra.Command, state string,
	change func(context.Context, *client.Client, client.User) (client.User, string, error)) *cobra.Command {
	var asJSON bool
	cmd.Args = command.AtLeast(1, "one or more users")
	cmd.Annotations = exit.Codes(exit.CodePartly, exit.CodeInterrupted)
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return p.Each(ctx, args, func(ref string) error {
			u, err := reference.FindUser(ctx, c, ref)
			if err != nil {
				return err
			}
			note := fmt.Sprintf("The user %s is already %s.\n", display.Printable(u.Username), state)
			if u.State != state {
				if u, note, err = change(ctx, c, u); err != nil {
					return err
				}
			}
			return p.Done(u, asJSON, "%s", note)
		})
	})
	command.JSONFlag(cmd, &asJSON)
	was := client.Active
	if state == was {
		was = client.Deleted
	}
	return p.Completes(cmd, true, completion.Users(was))
}
