package people

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/connection"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// KeyCommand returns the command key with its subcommands.
func KeyCommand(p command.Process) *cobra.Command {
	return p.Branch("key", "Create, list, limit and revoke keys", keyNewCommand(p), keyListCommand(p), keyEditCommand(p), keyRevokeCommand(p))
}

func keyNewCommand(p command.Process) *cobra.Command {
	var user, data string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new [--user NAME]",
		Short: "Create a key, for example to replace a lost one",
		Long: `new creates a key and prints only the key on standard output. It cannot be shown
again. The user's other keys stay valid. You can create keys for yourself, and
sysadmins for any user.

A key that you create for yourself depends on the key in use. It expires no
later than that key, and is revoked with it, unless you use "labshelf key revoke
--keep".

Limit a key that a program or an instrument uses: --scope read only reads,
--scope add only adds files and reads none, --scope write does both and also
changes and deletes files. --dataspace or --set names the only place that the
key reaches, and --network the addresses from which it can be used. Without
these flags, the key permits everything that its user may do.

With --data DIR the command works on the data directory of a stopped service.
This needs access to the directory, but no key: use it if all keys are lost.
--user must then name an active user.`,
		Example: `  labshelf key new --label laptop --expires 2027-12-31
  labshelf key new --label "instrument 3" --scope add --set microscope-3
  (umask 077; labshelf key new --user mary > mary.key)
  labshelf key new --data ./data --user admin`,
		Args:        cobra.NoArgs,
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
	}
	fields := defineKeyFlags(p, cmd, "with the key in use, or never")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("data") {
			return keyNewIn(p, cmd, data, user)
		}
		if _, err := fields.end(); err != nil {
			return err
		}
		c, err := p.Connect(cmd.Flags(), p.Process, false)
		if err != nil {
			return err
		}
		defer c.Close()
		return p.UntilSignal(func(ctx context.Context) error {
			created, err := keyNew(ctx, c, user, fields)
			if err != nil {
				return p.Advise(ctx, c, err)
			}
			if asJSON {
				return display.WriteJSON(p.Out, created)
			}
			return showKey(p, created.Secret, "This is the new key %s, shown only now.\n%s%s", created.ID, limitsOf(created.Key), endOf(created.Key))
		})
	}
	flags := cmd.Flags()
	userFlag(p, cmd, &user)
	flags.StringVar(&data, "data", "", "data directory `DIR`; the service must be stopped")
	connection.AddFlags(flags)
	command.JSONFlag(cmd, &asJSON)
	return cmd
}

// limitsOf says what a new key permits, or "" if it has no limits.
func limitsOf(k client.Key) string {
	if !isNarrow(k.KeyLimits) && len(k.Networks) == 0 {
		return ""
	}
	return fmt.Sprintf("It permits: %s\n", display.Printable(permits(k.KeyLimits)))
}

// endOf says when a new key ends, or "" if it does not depend on another key.
func endOf(k client.Key) string {
	switch {
	case k.MadeWith == "":
		return ""
	case k.Expires.IsZero():
		return fmt.Sprintf("It ends when the key in use, %s, is revoked.\n", display.Printable(k.MadeWith))
	}
	return fmt.Sprintf("It ends on %s, or earlier when the key in use, %s, is revoked.\n", display.Time(k.Expires.Time), display.Printable(k.MadeWith))
}

// keyNewIn creates a key in a data directory.
func keyNewIn(p command.Process, cmd *cobra.Command, data, user string) error {
	for _, name := range append(keyFlagNames(), "server", "key-file", "json") {
		if cmd.Flags().Changed(name) {
			return exit.Usagef("--data is for a stopped service, --%s is for a running one: give one or the other", name)
		}
	}
	if data == "" {
		return exit.Usagef("--data must name a directory")
	}
	if !cmd.Flags().Changed("user") || reference.Empty(user) {
		return exit.Usagef("--user must name the user, such as --user admin")
	}
	stores, err := datadir.ConfiguredIn(data, p.Environ)
	if err != nil {
		return err
	}
	key, err := datadir.NewKey(cmd.Context(), data, stores, user)
	if err != nil {
		return err
	}
	return showKey(p, key, "This is a new key for the user %s, shown only now. If a key was lost, use this one to revoke it.\n", user)
}

// showKey prints a key on standard output, and its description on standard error.
func showKey(p command.Process, key, format string, args ...any) error {
	if _, err := display.Fprintln(p.Out, key); err != nil {
		return fmt.Errorf("the key was created, but cannot be shown; create another one: %w", err)
	}
	_, err := display.Fprintf(p.Err, format, args...)
	return err
}

func keyNew(ctx context.Context, c *client.Client, user string, fields *keyFlags) (client.CreatedKey, error) {
	id, err := reference.UserID(ctx, c, user)
	if err != nil {
		return client.CreatedKey{}, err
	}
	k, err := fields.newKey(ctx, c)
	if err != nil {
		return client.CreatedKey{}, err
	}
	return c.Keys.Create(ctx, id, k)
}

func keyListCommand(p command.Process) *cobra.Command {
	var user string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List keys, without the keys themselves",
		Long: `ls lists your keys, or, for a sysadmin, the keys of any user, including revoked
and expired ones: the prefix, the label, what the key permits, the last use, and
the expiry. The column ENDS WITH shows the key with which a key was created:
revoking the former also revokes the latter.`,
		Args: cobra.NoArgs,
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		id, err := reference.UserID(ctx, c, user)
		if err != nil {
			return err
		}
		return command.Show(p, c.Keys.List(ctx, id, client.ListOptions{Limit: reference.PageSize}), keyColumns(), command.View{JSON: asJSON, None: "There are no keys."})
	})
	userFlag(p, cmd, &user)
	command.JSONFlag(cmd, &asJSON)
	return cmd
}

func keyColumns() []command.Column[client.Key] {
	type k = client.Key
	return []command.Column[k]{
		{Head: "ID", Only: command.Whole, Cell: func(k k) string { return k.ID }},
		{Head: "BEGINS", Cell: func(k k) string { return k.Prefix }},
		{Head: "STATE", Cell: func(k k) string { return k.State }},
		{Head: "CREATED", Cell: func(k k) string { return display.Time(k.Created.Time) }},
		{Head: "LAST USED", Cell: func(k k) string { return display.Time(k.LastUsed.Time) }},
		{Head: "EXPIRES", Cell: func(k k) string { return display.Time(k.Expires.Time) }},
		{Head: "ENDS WITH", Cell: func(k k) string { return k.MadeWith }},
		{Head: "PERMITS", Cell: func(k k) string { return permits(k.KeyLimits) }},
		{Head: "LABEL", Cell: func(k k) string { return k.Label }},
	}
}

// userFlag defines --user.
func userFlag(p command.Process, cmd *cobra.Command, user *string) {
	cmd.Flags().StringVar(user, "user", client.Me, "`NAME` or id of the user (default: you)")
	cmd.Flags().Lookup("user").DefValue = "" // the help text contains the default
	p.CompletesFlag(cmd, "user", completion.Users(client.Active))
}

func keyRevokeCommand(p command.Process) *cobra.Command {
	var user string
	var o revocation
	cmd := &cobra.Command{
		Use:   "revoke KEY...",
		Short: "Revoke keys, and everything created with them",
		Long: `revoke makes keys invalid immediately and permanently. KEY is the id of a key,
as "labshelf key ls" shows it, or its label or prefix if no other valid key of
the user has the same one. You can also revoke the key that the command itself
uses; sign in with another key afterwards.

Keys, links and invitations that were created with the key are revoked, too, and
webhooks that were created with it pause; revoke lists all of them. Keys that a
sysadmin created for other users stay. --dry-run shows the list and revokes
nothing. To replace a key, create a new one, sign in with it, and revoke the old
one with --keep, which keeps the listed objects.`,
		Example: `  labshelf key revoke "old laptop"
  labshelf key revoke --dry-run "old laptop"
  labshelf key revoke --user mary --keep 01KAMNTK0Z8S1B7T1T2FYB0RR4`,
		Args:        command.AtLeast(1, "one or more keys, by their ids, as \"labshelf key ls\" shows them"),
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := reference.UserID(ctx, c, user)
		if err != nil {
			return err
		}
		return p.Each(ctx, args, func(ref string) error { return keyRevoke(ctx, p, c, id, ref, o) })
	})
	flags := cmd.Flags()
	flags.BoolVar(&o.keep, "keep", false, "keep everything that was created with the key")
	flags.BoolVar(&o.dry, "dry-run", false, "revoke nothing; list everything that would be revoked or paused")
	command.JSONFlag(cmd, &o.json)
	userFlag(p, cmd, &user)
	return p.Completes(cmd, true, completeKeys(&user))
}

// completeKeys returns a function that completes the id of a key of the user.
func completeKeys(user *string) func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	return func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		id, err := reference.UserID(ctx, c, *user)
		if err != nil {
			return nil
		}
		return completion.Matching(c.Keys.List(ctx, id, client.ListOptions{Limit: reference.PageSize}), typed,
			func(k client.Key) (string, string) { return k.ID, k.State + " " + k.Prefix + " " + k.Label })
	}
}

// revocation has the options for revoking keys.
type revocation struct{ keep, dry, json bool }

// revokedKey is a revoked key, with the objects that depended on it.
type revokedKey struct {
	client.Key
	Dependents client.KeyDependents `json:"dependents"`
}

func keyRevoke(ctx context.Context, p command.Process, c *client.Client, user, ref string, o revocation) error {
	k, err := findKey(ctx, c, user, ref)
	if err != nil {
		return err
	}
	made, err := c.Keys.Dependents(ctx, user, k.ID)
	if err != nil {
		return err
	}
	did, fate := "Revoked", "Ended with it"
	switch {
	case o.dry && o.keep:
		did, fate = "Would revoke", "Would be kept"
	case o.dry:
		did, fate = "Would revoke", "Would end with it"
	case o.keep:
		fate, err = "Kept", c.Keys.Replace(ctx, user, k.ID)
	default:
		err = c.Keys.Revoke(ctx, user, k.ID)
	}
	if err != nil {
		return err
	}
	if !o.dry {
		k.State = "revoked"
	}
	return p.Done(revokedKey{k, made}, o.json, "%s the key %s, which begins with %s.\n%s", did, display.Printable(k.ID), display.Printable(k.Prefix), listDependents(fate, made))
}

// listDependents lists the objects that depend on a key; fate says what happens to them.
func listDependents(fate string, d client.KeyDependents) string {
	var lines strings.Builder
	for _, one := range d.Data {
		fmt.Fprintf(&lines, "%s: %s %s %s\n", fate, display.Printable(one.Kind), display.Printable(one.ID), display.Printable(one.Label))
	}
	if more := d.Count - len(d.Data); more > 0 {
		fmt.Fprintf(&lines, "%s: %d more keys, links and webhooks\n", fate, more)
	}
	if d.Sessions > 0 {
		fmt.Fprintf(&lines, "Browser sessions of the key: %d\n", d.Sessions)
	}
	return lines.String()
}

// findKey returns the key of a user that ref names: by id, or an active key by its label or prefix.
func findKey(ctx context.Context, c *client.Client, userID, ref string) (client.Key, error) {
	var fits []client.Key
	for k, err := range c.Keys.List(ctx, userID, client.ListOptions{Limit: reference.PageSize}) {
		switch {
		case err != nil || k.ID == ref:
			return k, err
		case len(ref) > len(k.Prefix) && k.Prefix != "" && strings.HasPrefix(ref, k.Prefix):
			return k, exit.Usagef("the argument is a key itself, and other users of this machine can read arguments: use its id, %s", k.ID)
		case k.State == client.Active && ref != "" && (k.Label == ref || k.Prefix == ref):
			fits = append(fits, k)
		}
	}
	switch len(fits) {
	case 0:
		return client.Key{}, fmt.Errorf("there is no key %q; \"labshelf key ls\" lists the ids", ref)
	case 1:
		return fits[0], nil
	}
	return client.Key{}, fmt.Errorf("%d keys have the label %q; give the id of one, as \"labshelf key ls\" shows it", len(fits), ref)
}
