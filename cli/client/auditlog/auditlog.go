// Package auditlog has the commands that list, export and verify the audit log.
package auditlog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
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

// Command returns the command audit with its subcommands.
func Command(p command.Process) *cobra.Command {
	return p.Branch("audit", "List, export and verify the log of all changes",
		listCommand(p), headCommand(p), exportCommand(p), verifyCommand(p))
}

// auditFlags are the flags of audit ls.
type auditFlags struct {
	command.ViewFlags
	user, object, action, order, since, until string
	from, to                                  time.Time // parsed since and until
}

func listCommand(p command.Process) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "ls [DATASPACE | SET | RESOURCE]",
		Short: "List who changed what, and when",
		Long: `ls lists the entries of the audit log, the newest first. Sysadmins see all
entries, admins the entries of their dataspaces. With a dataspace, a set or a
resource it lists the changes of that object, for everybody who can read it.

Entries are numbered from 0. --action accepts an action such as
resource.replace, or all actions on a kind of object, such as "resource.*".
--long also shows ids, digests and addresses. Times are in your time zone,
unless they end with Z or an offset.`,
		Example: `  labshelf audit ls runs-2026:run-1.csv
  labshelf audit ls --user mary --since 2026-11-01
  labshelf audit ls --action "privilege.*" --json`,
		Args: command.AtMost(1, "one dataspace, set or resource"),
	}
	cmd.PreRunE = func(_ *cobra.Command, args []string) error { return f.check(len(args) > 0) }
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		v := f.View("There are no such entries that you can see.")
		columns := entryColumns(ctx, command.UserNames{Client: c, Names: map[string]string{"": "-"}})
		if len(args) > 0 {
			kind, id, err := historyOf(ctx, c, args[0])
			if err != nil {
				return err
			}
			return command.Show(p, c.Audit.History(ctx, kind, id, client.ListOptions{Limit: f.Page()}), columns, v)
		}
		o := client.ListOptions{Limit: f.Page(), ObjectID: f.object, Action: f.action, Order: f.order, Since: f.from, Until: f.to}
		if f.user != "" {
			user, err := reference.FindUser(ctx, c, f.user)
			if err != nil {
				return err
			}
			o.UserID = user.ID
		}
		return command.Show(p, c.Audit.List(ctx, o), columns, v)
	})
	flags := cmd.Flags()
	flags.StringVar(&f.user, "user", "", "only actions of the user with this `NAME` or id")
	flags.StringVar(&f.object, "object", "", "only actions on the object with this `ID`, such as a user")
	flags.StringVar(&f.action, "action", "", "only this action, as a `WORD`, or all actions on a kind of object, such as \"user.*\"")
	flags.StringVar(&f.order, "order", "", "sort in this `ORDER`: newest (the default) or oldest first")
	flags.StringVar(&f.since, "since", "", "only actions after `TIME`, such as 2026-12-31 or \"2026-12-31 18:00\"")
	flags.StringVar(&f.until, "until", "", "only actions before `TIME`")
	flags.BoolVarP(&f.Long, "long", "l", false, "also show ids, digests and addresses; truncate nothing")
	flags.IntVar(&f.Limit, "limit", 0, "at most `N` rows (default: all)")
	command.JSONFlag(cmd, &f.JSON)
	p.CompletesFlag(cmd, "user", completion.Users(client.Active))
	p.CompletesFlag(cmd, "order", completion.Words("newest", "oldest"))
	return p.Completes(cmd, false, completion.Either(completion.Dataspaces(client.Active), completion.SetsOrResources))
}

// check parses the flags. The history of one object takes no filters.
func (f *auditFlags) check(ofObject bool) (err error) {
	switch f.order {
	case "", "newest", "oldest":
	default:
		return exit.Usagef("--order must be newest or oldest, not %q", f.order)
	}
	if ofObject && f.user+f.object+f.action+f.order+f.since+f.until != "" {
		return exit.Usagef("--user, --object, --action, --order, --since and --until are for the whole log: omit them, or the object")
	}
	if f.from, err = command.InstantOf("since", f.since); err == nil {
		f.to, err = command.InstantOf("until", f.until)
	}
	if err != nil {
		return err
	}
	return f.ViewFlags.Check()
}

// historyOf returns the history listing and the id of the object that ref names.
func historyOf(ctx context.Context, c *client.Client, ref string) (kind, id string, err error) {
	d, s, r, err := reference.FindAny(ctx, c, ref)
	switch {
	case err != nil:
		return "", "", err
	case d != nil:
		return "dataspaces", d.ID, nil
	case s != nil:
		return "sets", s.ID, nil
	}
	return "resources", r.ID, nil
}

func entryColumns(ctx context.Context, who command.UserNames) []command.Column[client.AuditEntry] {
	type e = client.AuditEntry
	return []command.Column[e]{
		{Head: "NUMBER", Cell: func(e e) string { return fmt.Sprint(e.Number) }},
		{Head: "TIME", Cell: func(e e) string { return display.Time(e.Time.Time) }},
		{Head: "WHO", Cell: func(e e) string { return who.Name(ctx, e.UserID) }},
		{Head: "ACTION", Cell: func(e e) string { return e.Action }},
		{Head: "OBJECT", Cell: func(e e) string { return strings.TrimSpace(e.ObjectKind + " " + e.ObjectID) }},
		{Head: "WHAT", Cell: func(e e) string { return whatChanged(ctx, e, who) }},
		{Head: "ADDRESS", Only: command.InLong, Cell: func(e e) string { return e.Address }},
		{Head: "KEY", Only: command.InLong, Cell: func(e e) string { return e.KeyID }},
		{Head: "REQUEST", Only: command.InLong, Cell: func(e e) string { return e.RequestID }},
		{Head: "SHA256", Only: command.InLong, Cell: func(e e) string { return e.SHA256 }},
	}
}

// whatChanged formats the changes of an entry's object in one line.
func whatChanged(ctx context.Context, e client.AuditEntry, who command.UserNames) string {
	var said []string
	if e.Version > 0 {
		bytes := int64(0)
		if e.Bytes != nil {
			bytes = *e.Bytes
		}
		said = append(said, fmt.Sprintf("version %d, %s", e.Version, display.Bytes(bytes)))
	}
	if e.SubjectID != "" {
		said = append(said, "user "+who.Name(ctx, e.SubjectID))
	}
	for _, text := range []json.RawMessage{e.Texts, e.Values} {
		var fields map[string]any
		_ = json.Unmarshal(text, &fields) // missing, or an object
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			said = append(said, name+" "+valueText(fields[name]))
		}
	}
	if e.Erased {
		said = append(said, "(texts were erased)")
	}
	return strings.Join(said, "; ")
}

// valueText formats the value of a field, or its old and new value.
func valueText(value any) string {
	change, changed := value.(map[string]any)
	before, now := change["before"], change["now"]
	switch text, isText := value.(string); {
	case changed && before != nil && now != nil:
		return valueText(before) + " -> " + valueText(now)
	case isText:
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprint(value)
}

func headCommand(p command.Process) *cobra.Command {
	var size int64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "head",
		Short: "Print a signed head of the audit log, to verify the log later",
		Long: `head prints the signed head of the audit log: the number of entries, and the
root of their Merkle tree. With it, "labshelf audit verify" can later detect
whether any of these entries was changed, removed or inserted.

A head only proves something if people who can change the data directory cannot
change the head. Keep it on another machine, with another administrator, or on
paper. Let cron append a head to a file there every day. Every user can get
heads.`,
		Example: `  labshelf audit head >> heads.txt
  labshelf audit head --size 1000`,
		Args: cobra.NoArgs,
	}
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("size") && size < 0 {
			return exit.Usagef("--size must be a number of entries, 0 or more")
		}
		return nil
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		head, err := c.Audit.Head(ctx, size)
		if err != nil {
			return err
		}
		if asJSON {
			return display.WriteJSON(p.Out, head)
		}
		_, err = io.WriteString(p.Out, head.Head)
		return err
	})
	cmd.Flags().Int64Var(&size, "size", -1, "print the head of the first `N` entries (default: all)")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false)
}
