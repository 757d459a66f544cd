// Package link has the commands that make, list and end links for people without an account.
package link

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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

// Command returns the command link with its subcommands.
func Command(p command.Process) *cobra.Command {
	cmd := p.Branch("link", "Share files, request files, or invite people, with a link",
		shareCommand(p), requestCommand(p), inviteCommand(p), listCommand(p), revokeCommand(p), takeCommand(p), discardCommand(p))
	cmd.Long = `link creates addresses for people without an account. A share shows a set, a
folder or a file; a request receives files into a set; an invitation gives an
account and a role. People with the address have at most your current
permissions. Editors can create shares and requests, and sysadmins can create
invitations.`
	return cmd
}

// linkFlags defines the flags of a new share or request.
func linkFlags(flags *pflag.FlagSet, n *client.NewLink, expires *string, uses string) {
	flags.StringVar(&n.Label, "label", "", "`TEXT` of up to 100 characters that describes the link; visitors see it")
	flags.StringVar(expires, "expires", "", "expiry `TIME`: a date such as 2027-12-31, a time, or a duration such as 7d (default: never, or the maximum of the service)")
	flags.StringVar(&n.Password, "password", "", "`PASSWORD` of 6 characters or more that visitors must enter")
	flags.Int64Var(&n.MaxUses, "max-uses", 0, uses)
}

func shareCommand(p command.Process) *cobra.Command {
	var n client.NewLink
	var expires string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "share SET[/FOLDER/] | RESOURCE",
		Short: "Create a link to download files",
		Long: `share creates a link that shows the files of a set or folder, or one file, and
prints its address on standard output. The address cannot be shown again.
Visitors see the current content of a set or folder, and the current version of
a file unless --version selects another one.`,
		Example: `  labshelf link share lab-one/raw --label "Scans for Bern" --expires 2027-01-31
  labshelf link share lab-one/raw/2026/ --password "blue horse"
  labshelf link share lab-one/raw:plan.pdf --max-uses 3`,
		Args: command.Exactly(1, "one set, such as lab-one/raw; a folder, such as lab-one/raw/2026/; or one file, such as lab-one/raw:plan.pdf"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		n.Kind = client.Share
		if err := shareOf(ctx, c, args[0], &n); err != nil {
			return err
		}
		return makeLink(ctx, p, c, n, expires, asJSON)
	})
	linkFlags(cmd.Flags(), &n, &expires, "maximum `NUMBER` of downloads (default: no limit)")
	cmd.Flags().Int64Var(&n.Version, "version", 0, "`NUMBER` of the version of a file (default: the current one)")
	cmd.Flags().BoolVar(&n.HidesPeople, "hide-people", false, "hide the names of people and of the dataspace, for anonymous review")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, completion.SetsOrResources)
}

// shareOf finds the object that a share shows: a folder of a set if the reference ends in a slash,
// a set, or a file.
func shareOf(ctx context.Context, c *client.Client, ref string, n *client.NewLink) error {
	s, folder, found, err := reference.LookupFolder(ctx, c, ref)
	if found || err != nil {
		n.SetID, n.Folder = s.ID, strings.TrimSuffix(folder, "/")
		return err
	}
	r, err := reference.FindResource(ctx, c, ref, client.Active)
	n.SetID, n.Resources = r.SetID, []string{r.ID}
	return err
}

func requestCommand(p command.Process) *cobra.Command {
	var n client.NewLink
	var expires string
	var all, each command.QuotaValue
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "request SET",
		Short: "Create a link to receive files",
		Long: `request creates a link for uploads to a set, by people without an account or by
an instrument's computer that only has curl. They cannot see the content of the
set. The command prints the address on standard output; the address cannot be
shown again. The name of an uploaded file begins with the label of the link and
the day. To upload from a terminal:

  curl -T FILE ADDRESS/FILE`,
		Example: `  labshelf link request lab-one/raw --label Bern --max-total 20GiB --type .tif`,
		Args:    command.Exactly(1, "one set, such as lab-one/raw"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		s, err := reference.FindSet(ctx, c, args[0], client.Active)
		if err != nil {
			return err
		}
		n.Kind, n.SetID, n.MaxBytes, n.MaxFileBytes = client.Request, s.ID, int64(all), int64(each)
		return makeLink(ctx, p, c, n, expires, asJSON)
	})
	flags := cmd.Flags()
	linkFlags(flags, &n, &expires, "`NUMBER` of files after which the link ends (default: any)")
	flags.Var(&all, "max-total", "maximum total `SIZE` of all files, such as 20GiB")
	flags.Var(&each, "max-size", "maximum `SIZE` of one file, such as 2GiB")
	flags.StringArrayVar(&n.Types, "type", nil, "`TYPE` of accepted files, such as .tif or image/*; may be repeated (default: all)")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, completion.Sets(client.Active))
}

func inviteCommand(p command.Process) *cobra.Command {
	var n client.NewLink
	var expires string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "invite [DATASPACE]",
		Short: "Create a link that gives a colleague an account",
		Long: `invite creates a link with which one person chooses a username and gets a key
and a role in a dataspace. It prints the address on standard output; the address
cannot be shown again. Send it only to that person, because the first person who
uses it gets the account. A person who already has an account gets only the
role. Without a dataspace, the invitation gives an account and no role.
Sysadmins can invite people. Admins can invite people to their dataspace, if the
operator allows this ("invitations" in the configuration).`,
		Example: `  labshelf link invite lab-one --role editor --label "Ada Lovelace"`,
		Args:    command.AtMost(1, "one dataspace, such as lab-one"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		n.Kind = client.Invitation
		switch {
		case len(args) == 0 && n.Role != "":
			return exit.Usagef("--role requires a dataspace: name one, or omit --role")
		case len(args) == 1 && !slices.Contains(command.Roles(), n.Role):
			return exit.Usagef("--role must be one of %s", strings.Join(command.Roles(), ", "))
		case len(args) == 1:
			d, err := reference.FindDataspace(ctx, c, args[0], client.Active)
			if err != nil {
				return err
			}
			n.DataspaceID = d.ID
		}
		return makeLink(ctx, p, c, n, expires, asJSON)
	})
	flags := cmd.Flags()
	flags.StringVar(&n.Role, "role", "", "`ROLE` in the dataspace: member, editor or admin")
	flags.StringVar(&n.Label, "label", "", "`TEXT` of up to 100 characters, such as the name of the colleague; visitors do not see it")
	flags.StringVar(&expires, "expires", "", "expiry `TIME`: a date or a duration such as 3d, at most 30 days from now (default: 7d)")
	command.JSONFlag(cmd, &asJSON)
	p.CompletesFlag(cmd, "role", completion.Words(command.Roles()...))
	return p.Completes(cmd, false, completion.Dataspaces(client.Active))
}

// makeLink creates a link, and writes its address to standard output.
func makeLink(ctx context.Context, p command.Process, c *client.Client, n client.NewLink, expires string, asJSON bool) error {
	end, err := command.ParseEnd(expires, time.Now())
	if err != nil {
		return err
	}
	if !end.IsZero() {
		n.Expires = end.UTC().Format(time.RFC3339)
	}
	made, err := c.Links.Create(ctx, n)
	if err != nil {
		return err
	}
	if asJSON {
		return display.WriteJSON(p.Out, made)
	}
	if _, err := display.Fprintf(p.Err, "Created the link %s. Its address is below; it cannot be shown again.\n", display.Printable(made.ID)); err != nil {
		return err
	}
	_, err = display.Fprintln(p.Out, made.Address)
	return err
}

func listCommand(p command.Process) *cobra.Command {
	var dataspace, state string
	var asJSON, long bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List links",
		Long: `ls lists your links, and the links of dataspaces in which you are admin: the
label, the number of uses, and the last use.`,
		Args: cobra.NoArgs,
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		o := client.ListOptions{State: state}
		if dataspace != "" {
			d, err := reference.FindDataspace(ctx, c, dataspace, client.Active)
			if err != nil {
				return err
			}
			o.DataspaceID = d.ID
		}
		targets := linkTargets{}
		if !asJSON {
			var err error
			if targets, err = readLinkTargets(ctx, c); err != nil {
				return err
			}
		}
		v := command.View{JSON: asJSON, None: "There are no links that you can manage."}
		if long {
			v.Also |= command.InLong
		}
		return command.Show(p, c.Links.List(ctx, o), linkColumns(targets), v)
	})
	cmd.Flags().BoolVarP(&long, "long", "l", false, "also show the password, the last use and unfinished uploads; truncate nothing")
	cmd.Flags().StringVar(&dataspace, "dataspace", "", "only links of this `DATASPACE` (default: all)")
	cmd.Flags().StringVar(&state, "state", client.Active, "only links in this `STATE`: active, deleted (revoked) or all")
	command.JSONFlag(cmd, &asJSON)
	p.CompletesFlag(cmd, "dataspace", completion.Dataspaces(client.Active))
	return cmd
}

// linkTargets are the names of the sets and dataspaces of links, by id.
type linkTargets struct{ sets, dataspaces map[string]string }

func readLinkTargets(ctx context.Context, c *client.Client) (t linkTargets, err error) {
	if t.sets, err = command.SetNames(ctx, c, ""); err != nil {
		return t, err
	}
	t.dataspaces = map[string]string{}
	for d, err := range c.Dataspaces.List(ctx, client.ListOptions{State: client.All, Limit: reference.PageSize}) {
		if err != nil {
			return t, err
		}
		t.dataspaces[d.ID] = d.Name
	}
	return t, nil
}

// of returns the name of the object that a link shows, uploads to, or invites to.
func (t linkTargets) of(l client.Link) string {
	switch set := cmp.Or(t.sets[l.SetID], l.SetID); {
	case l.SetID == "":
		return cmp.Or(t.dataspaces[l.DataspaceID], l.DataspaceID, "an account")
	case l.Folder != "":
		return set + "/" + l.Folder + "/"
	case len(l.Resources) == 1:
		return "1 file of " + set
	case len(l.Resources) > 1:
		return fmt.Sprintf("%d files of %s", len(l.Resources), set)
	default:
		return set
	}
}

func linkColumns(targets linkTargets) []command.Column[client.Link] {
	type l = client.Link
	return []command.Column[l]{
		{Head: "ID", Only: command.Whole, Cell: func(l l) string { return l.ID }},
		{Head: "KIND", Cell: func(l l) string { return l.Kind }},
		{Head: "STATE", Cell: func(l l) string { return strings.ReplaceAll(l.State, "_", " ") }},
		{Head: "USES", Cell: func(l l) string {
			if l.MaxUses == 0 {
				return fmt.Sprint(l.Uses)
			}
			return fmt.Sprintf("%d of %d", l.Uses, l.MaxUses)
		}},
		{Head: "UNFINISHED", Only: command.InLong, Cell: func(l l) string {
			if l.UnfinishedUploads == 0 {
				return ""
			}
			return fmt.Sprintf("%d, %s", l.UnfinishedUploads, display.Bytes(l.UnfinishedBytes))
		}},
		{Head: "LAST USED", Only: command.InLong, Cell: func(l l) string { return display.Time(l.LastUsed.Time) }},
		{Head: "EXPIRES", Cell: func(l l) string { return command.DayOf(l.Expires) }},
		{Head: "PASSWORD", Only: command.InLong, Cell: func(l l) string {
			if l.HasPassword {
				return "yes"
			}
			return ""
		}},
		{Head: "TARGET", Cell: targets.of},
		{Head: "LABEL", Cell: func(l l) string { return l.Label }},
	}
}

func revokeCommand(p command.Process) *cobra.Command {
	return onLink(p, "revoke LINK", "Revoke a link permanently", `revoke ends a link immediately and permanently. Files that were uploaded through
it stay.`,
		func(ctx context.Context, c *client.Client, l client.Link, asJSON bool) error {
			if err := c.Links.Revoke(ctx, l.ID); err != nil {
				return err
			}
			l.State = "revoked"
			return p.Done(l, asJSON, "Revoked the link %s.\n", display.Printable(l.ID))
		})
}

func takeCommand(p command.Process) *cobra.Command {
	return onLink(p, "take LINK", "Become the owner of a link",
		`take makes you the owner of a link: its visitors then have your permissions.
Admins of the dataspace can use it, for example after the owner has left.`,
		func(ctx context.Context, c *client.Client, l client.Link, asJSON bool) error {
			taken, err := c.Links.Take(ctx, l.ID)
			if err != nil {
				return err
			}
			return p.Done(taken, asJSON, "You own the link %s now.\n", display.Printable(l.ID))
		})
}

func discardCommand(p command.Process) *cobra.Command {
	return onLink(p, "discard LINK", "End the unfinished uploads of a request",
		`discard ends the unfinished uploads through a request, even if they are being
sent, and removes their data, which count towards the quotas until then.
Complete files stay. Visitors can start again, unless you revoke the link with
"labshelf link revoke".`,
		func(ctx context.Context, c *client.Client, l client.Link, asJSON bool) error {
			if err := c.Links.EndUploads(ctx, l.ID); err != nil {
				return err
			}
			l, err := c.Links.Get(ctx, l.ID)
			if err != nil {
				return err
			}
			return p.Done(l, asJSON, "Ended the unfinished uploads of the link %s.\n", display.Printable(l.ID))
		})
}

// onLink returns a command for one link.
func onLink(p command.Process, use, short, long string, run func(context.Context, *client.Client, client.Link, bool) error) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: command.Exactly(1, "one link, by its id or label, as \"labshelf link ls\" shows it")}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		l, err := findLink(ctx, c, args[0])
		if err != nil {
			return err
		}
		return run(ctx, c, l, asJSON)
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, linksOffered)
}

func findLink(ctx context.Context, c *client.Client, ref string) (client.Link, error) {
	var fits []client.Link
	for l, err := range c.Links.List(ctx, client.ListOptions{}) {
		if err != nil {
			return client.Link{}, err
		}
		if l.ID == ref || ref != "" && l.Label == ref {
			fits = append(fits, l)
		}
	}
	if exact := slices.IndexFunc(fits, func(l client.Link) bool { return l.ID == ref }); exact >= 0 {
		return fits[exact], nil
	}
	switch len(fits) {
	case 0:
		return client.Link{}, fmt.Errorf("there is no link %q that you can manage; \"labshelf link ls\" lists your links", ref)
	case 1:
		return fits[0], nil
	}
	return client.Link{}, exit.Usagef("%d links have the label %q; give the id of one, as \"labshelf link ls\" shows it", len(fits), ref)
}

func linksOffered(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	return completion.Matching(c.Links.List(ctx, client.ListOptions{}), typed, func(l client.Link) (string, string) { return l.ID, l.Kind + " " + l.Label })
}
