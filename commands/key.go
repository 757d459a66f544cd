package commands

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"labshelf/client"
)

func keyCommand(p Process) *cobra.Command {
	return p.branch("key", "Make, list and revoke keys", keyNewCommand(p), keyListCommand(p), keyRevokeCommand(p))
}

func keyNewCommand(p Process) *cobra.Command {
	var user, data, label, expires string
	cmd := &cobra.Command{
		Use:   "new [--user NAME]",
		Short: "Make a key, also as the way back in after a lost one",
		Long: `new makes a key and prints it, alone, on standard output. Nothing can show it
again. The user's other keys stay valid. A key is made for yourself, or by a
sysadmin for any user.

With --data DIR it works on a data directory whose service is stopped, and
needs no key: it is for whoever may read the data directory, and the way back
in where nobody has a key. --user must name an active user then.`,
		Args:        cobra.NoArgs,
		Annotations: p.ExitCodes(3, 5),
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("data") {
			return p.keyNewIn(cmd, data, user)
		}
		k, err := newKey(label, expires, time.Now())
		if err != nil {
			return err
		}
		c, err := p.Connect(cmd.Flags(), false)
		if err != nil {
			return err
		}
		defer c.Close()
		return p.UntilSignal(func(ctx context.Context) error {
			created, err := p.keyNew(ctx, c, user, k)
			if err != nil {
				return err
			}
			return p.showKey(created.Secret, "This is the new key %s, shown only now.\n", created.ID)
		})
	}
	flags := cmd.Flags()
	flags.StringVar(&user, "user", "", "`NAME` or id of the user (default: you)")
	flags.StringVar(&label, "label", "", "what the key is for, as a `TEXT` of up to 100 characters")
	flags.StringVar(&expires, "expires", "", "`DATE` on which it ends, such as 2027-12-31 or 2027-12-31T18:00:00Z (default: never)")
	flags.StringVar(&data, "data", "", "`DIR` that holds everything; the service must be stopped")
	p.RemoteFlags(flags)
	return cmd
}

// keyNewIn is keyNew in a data directory.
func (p Process) keyNewIn(cmd *cobra.Command, data, user string) error {
	for _, name := range []string{"server", "key-file", "label", "expires"} {
		if cmd.Flags().Changed(name) {
			return usagef("--data is for a service that is stopped, --%s for one that is running: give one or the other", name)
		}
	}
	if data == "" {
		return usagef("--data must name a directory")
	}
	if user == "" {
		return usagef("--user must name the user, such as --user admin")
	}
	key, err := p.NewKeyIn(cmd.Context(), data, user)
	if err != nil {
		return err
	}
	return p.showKey(key, "This is a new key for the user %s, shown only now. Revoke the lost one with it, if there is one.\n", user)
}

// showKey prints a key for programs, and what it is for people.
func (p Process) showKey(key, format string, args ...any) error {
	if _, err := fmt.Fprintln(p.Out, key); err != nil {
		return fmt.Errorf("the key was made, but cannot be shown; make another one: %w", err)
	}
	_, err := fmt.Fprintf(p.Err, format, args...)
	return err
}

func (p Process) keyNew(ctx context.Context, c *client.Client, user string, k client.NewKey) (client.CreatedKey, error) {
	id, err := userID(ctx, c, user)
	if err != nil {
		return client.CreatedKey{}, err
	}
	return c.NewKey(ctx, id, k)
}

// newKey reads the flags of a new key. A date without a time ends with that day, as clocks show it here.
func newKey(label, expires string, now time.Time) (k client.NewKey, err error) {
	k.Label = label
	if expires == "" {
		return k, nil
	}
	k.Expires, err = time.Parse(time.RFC3339, expires)
	if day, e := time.ParseInLocation(time.DateOnly, expires, now.Location()); e == nil {
		k.Expires, err = day.AddDate(0, 0, 1), nil
	}
	if err != nil || !k.Expires.After(now) {
		return k, usagef("--expires must be a date to come, such as 2027-12-31 or 2027-12-31T18:00:00Z, not %q", expires)
	}
	return k, nil
}

func keyListCommand(p Process) *cobra.Command {
	var user string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List keys, without the keys themselves",
		Args:  cobra.NoArgs,
	}
	cmd = p.remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		id, err := userID(ctx, c, user)
		if err != nil {
			return err
		}
		t := table{head: []string{"ID", "BEGINS", "STATE", "CREATED", "LAST USED", "EXPIRES", "LABEL"}}
		for k, err := range c.Keys(ctx, id, client.ListOptions{}) {
			if err != nil {
				return err
			}
			if asJSON {
				if err := p.writeJSON(k); err != nil {
					return err
				}
				continue
			}
			t.add(k.ID, k.Prefix, k.State, when(k.Created), when(k.LastUsed), when(k.Expires), k.Label)
		}
		return t.write(p.Out, widthOf(p.Out))
	})
	cmd.Flags().StringVar(&user, "user", "", "`NAME` or id of the user (default: you)")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func keyRevokeCommand(p Process) *cobra.Command {
	var user string
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "End a key for good",
		Long: `revoke ends a key at once, wherever it is kept. "labshelf key ls" shows the ids.
The key that the command itself uses can be revoked too; sign in with another
one afterwards.`,
		Args: exactly(1, "the id of one key, as \"labshelf key ls\" shows it"),
	}
	cmd = p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := userID(ctx, c, user)
		if err != nil {
			return err
		}
		return c.RevokeKey(ctx, id, args[0])
	})
	cmd.Flags().StringVar(&user, "user", "", "`NAME` or id of the user (default: you)")
	return cmd
}

// when is a time for people, as clocks show it here.
func when(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}
