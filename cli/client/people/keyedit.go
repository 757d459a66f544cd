package people

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// keyFlags are the flags for the fields of a key.
type keyFlags struct {
	flags                                 *pflag.FlagSet
	label, expires, scope, dataspace, set string
	networks                              []string
}

// defineKeyFlags defines the flags for the fields of a key. without is the expiry without the flag.
func defineKeyFlags(p command.Process, cmd *cobra.Command, without string) *keyFlags {
	k := &keyFlags{flags: cmd.Flags()}
	k.flags.StringVar(&k.label, "label", "", "label `TEXT` of up to 100 characters, such as the purpose of the key")
	k.flags.StringVar(&k.expires, "expires", "", "expiry `TIME`: a date such as 2027-12-31, a time, or a duration such as 7d (default: "+without+")")
	k.flags.StringVar(&k.scope, "scope", "", "`SCOPE` of the key: all, write, add or read")
	k.flags.StringVar(&k.dataspace, "dataspace", "", "`DATASPACE` that the key is limited to")
	k.flags.StringVar(&k.set, "set", "", "`SET` that the key is limited to")
	k.flags.StringSliceVar(&k.networks, "network", nil, "`PREFIX` of addresses from which the key can be used, such as 192.0.2.0/24; repeatable")
	p.CompletesFlag(cmd, "scope", completion.Words("all", "write", "add", "read"))
	p.CompletesFlag(cmd, "dataspace", completion.Dataspaces(client.Active))
	p.CompletesFlag(cmd, "set", completion.Sets(client.Active))
	return k
}

// keyFlagNames are the names of the flags for the fields of a key.
func keyFlagNames() []string {
	return []string{"scope", "dataspace", "set", "network", "label", "expires"}
}

// end parses the expiry, which is zero without the flag.
func (k *keyFlags) end() (client.Time, error) {
	end, err := command.ParseEnd(k.expires, time.Now())
	return client.Time{Time: end}, err
}

// edit returns the change that the flags describe.
func (k *keyFlags) edit(ctx context.Context, c *client.Client) (edit client.KeyEdit, err error) {
	if k.flags.Changed("dataspace") && k.flags.Changed("set") {
		return edit, exit.Usagef("a key is limited to one place: give --dataspace or --set")
	}
	for _, name := range []string{"scope", "network", "expires"} { // a script may have forgotten to set a variable
		if k.flags.Changed(name) && strings.Trim(k.flags.Lookup(name).Value.String(), "[]\", ") == "" {
			return edit, exit.Usagef("--%s is empty: give a value, or omit the flag", name)
		}
	}
	edit.Label = command.Given(k.flags, "label", &k.label)
	edit.Scope = command.Given(k.flags, "scope", &k.scope)
	edit.Networks = command.Given(k.flags, "network", &k.networks)
	if end, err := k.end(); err != nil {
		return edit, err
	} else if !end.IsZero() {
		edit.Expires = new(end.UTC().Format(time.RFC3339Nano))
	}
	switch {
	case k.flags.Changed("dataspace"):
		d, err := reference.FindDataspace(ctx, c, k.dataspace, client.Active)
		if err != nil {
			return edit, err
		}
		edit.DataspaceID, edit.SetID = &d.ID, new("")
	case k.flags.Changed("set"):
		s, err := reference.FindSet(ctx, c, k.set, client.Active)
		if err != nil {
			return edit, err
		}
		edit.DataspaceID, edit.SetID = &s.DataspaceID, &s.ID
	}
	return edit, nil
}

// newKey returns the description of a new key.
func (k *keyFlags) newKey(ctx context.Context, c *client.Client) (created client.NewKey, err error) {
	edit, err := k.edit(ctx, c)
	if err != nil {
		return created, err
	}
	created.Label, created.Scope, created.Networks = k.label, k.scope, k.networks
	if edit.DataspaceID != nil {
		created.DataspaceID, created.SetID = *edit.DataspaceID, *edit.SetID
	}
	created.Expires, err = k.end()
	return created, err
}

// permits describes the limits of a key in a few words.
func permits(l client.KeyLimits) string {
	words := []string{l.Scope}
	switch {
	case l.SetID != "":
		words = append(words, "in set", l.SetID)
	case l.DataspaceID != "":
		words = append(words, "in dataspace", l.DataspaceID)
	}
	if len(l.Networks) > 0 {
		words = append(words, "from", strings.Join(l.Networks, ", "))
	}
	return strings.Join(words, " ")
}

func keyEditCommand(p command.Process) *cobra.Command {
	var user string
	var keep, asJSON bool
	cmd := &cobra.Command{
		Use:   "edit KEY",
		Short: "Limit what a key permits, or change its label or expiry",
		Long: `edit changes the fields given by flags and keeps all others. KEY is the id of a
key, as "labshelf key ls" shows it, or its label or prefix if no other valid key
of the user has the same. A key can only become narrower and expire earlier; to
permit more, create another key. A revoked or expired key cannot be changed.

If the scope, the place or the networks of a key change, everything that was
created with it ends, as in "labshelf key revoke"; edit lists it. --keep keeps
it instead. Keys that were created with the key expire no later than the key.`,
		Example: `  labshelf key edit "microscope PC" --scope add --set microscope-3
  labshelf key edit harvester --scope read --network 192.0.2.0/24
  labshelf key edit laptop --expires 30d`,
		Args: command.Exactly(1, "one key, by its id, as \"labshelf key ls\" shows it"),
	}
	flags := cmd.Flags()
	fields := defineKeyFlags(p, cmd, "unchanged")
	flags.BoolVar(&keep, "keep", false, "keep everything that was created with the key")
	command.JSONFlag(cmd, &asJSON)
	userFlag(p, cmd, &user)
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := reference.UserID(ctx, c, user)
		if err != nil {
			return err
		}
		edited, err := keyEdit(ctx, c, id, args[0], fields, keep)
		if err != nil {
			return err
		}
		fate := "Ended"
		if keep {
			fate = "Kept"
		}
		return p.Done(edited, asJSON, "Changed the key %s. It permits: %s\n%s",
			display.Printable(edited.ID), display.Printable(permits(edited.KeyLimits)), listDependents(fate, edited.Dependents))
	})
	cmd.PreRunE = command.WantOne(flags, keyFlagNames()...)
	return p.Completes(cmd, false, completeKeys(&user))
}

// editedKey is a changed key, with the objects that ended or were kept.
type editedKey struct {
	client.Key
	Dependents client.KeyDependents `json:"dependents"`
}

func keyEdit(ctx context.Context, c *client.Client, user, ref string, fields *keyFlags, keep bool) (edited editedKey, err error) {
	before, err := findKey(ctx, c, user, ref)
	if err != nil {
		return edited, err
	}
	edit, err := fields.edit(ctx, c)
	if err != nil {
		return edited, err
	}
	if edited.Dependents, err = c.Keys.Dependents(ctx, user, before.ID); err != nil {
		return edited, err
	}
	change := c.Keys.Edit
	if keep {
		change = c.Keys.Narrow
	}
	if edited.Key, err = change(ctx, user, before.ID, edit); err != nil {
		return edited, err
	}
	if permits(before.KeyLimits) == permits(edited.KeyLimits) {
		edited.Dependents = client.KeyDependents{Data: []client.KeyDependent{}}
	}
	edited.Dependents.Sessions = 0 // sessions stay, with the limits of the key
	return edited, nil
}

// isNarrow reports whether a key permits less than its user may do.
func isNarrow(l client.KeyLimits) bool { return l.Scope != "all" || l.DataspaceID != "" }
