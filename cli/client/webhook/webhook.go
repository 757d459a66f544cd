// Package webhook has the commands for webhooks.
package webhook

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// Command returns the command webhook with its subcommands.
func Command(p command.Process) *cobra.Command {
	cmd := p.Branch("webhook", "Send messages about changes to other services",
		addCommand(p), listCommand(p), showCommand(p), editCommand(p), removeCommand(p), rotateCommand(p),
		resumeCommand(p), skipCommand(p), deliveriesCommand(p), repeatCommand(p))
	cmd.Long = `webhook manages webhooks. A webhook sends a message to your URL for each change,
in the order of the changes, at least once, and signed according to Standard
Webhooks 1.0. Admins can create webhooks for their dataspace, and sysadmins for
the whole service. The operator allows the receiving hosts (webhook_hosts).`
	return cmd
}

func addCommand(p command.Process) *cobra.Command {
	var dataspace string
	var n client.NewWebhook
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add URL",
		Short: "Create a webhook",
		Long: `add creates a webhook, which receives the changes after its creation, and prints
the secret that signs its messages on standard output. Store it: it cannot be
shown again. --dataspace selects the dataspace whose changes the webhook
receives; without it, a sysadmin gets a webhook for all changes of the service.`,
		Example: `  labshelf webhook add https://hooks.example.org/labshelf --dataspace lab-one
  labshelf webhook add https://hooks.example.org/x --event 'resource.*'`,
		Args: command.Exactly(1, "one URL, such as https://hooks.example.org/labshelf"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		n.URL = args[0]
		if dataspace != "" {
			d, err := reference.FindDataspace(ctx, c, dataspace, client.Active)
			if err != nil {
				return err
			}
			n.DataspaceID = d.ID
		}
		made, err := c.Webhooks.Create(ctx, n)
		if err != nil {
			return err
		}
		return showSecret(p, made, asJSON, "Created the webhook %s. Its secret is below; it cannot be shown again.\n")
	})
	flags := cmd.Flags()
	flags.StringVar(&dataspace, "dataspace", "", "receive only changes of this `DATASPACE` (default: of the whole service)")
	flags.StringArrayVar(&n.Events, "event", nil, "`KIND` of event that it receives, such as resource.create or resource.*; may be repeated (default: all)")
	flags.StringVar(&n.Label, "label", "", "`TEXT` of up to 100 characters that describes it")
	command.JSONFlag(cmd, &asJSON)
	p.CompletesFlag(cmd, "dataspace", completion.Dataspaces(client.Active))
	return cmd
}

// showSecret writes a secret to standard output, and its description to standard error.
func showSecret(p command.Process, w client.SecretWebhook, asJSON bool, format string) error {
	if asJSON {
		return display.WriteJSON(p.Out, w)
	}
	if _, err := display.Fprintf(p.Err, format, display.Printable(w.ID)); err != nil {
		return err
	}
	_, err := display.Fprintln(p.Out, w.Secret)
	return err
}

func listCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List webhooks",
		Long:  `ls lists the webhooks that you can manage, with their URL and state.`,
		Args:  cobra.NoArgs,
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		all, err := c.Webhooks.List(ctx)
		return command.Show(p, command.Sequence(all, err), webhookColumns(), command.View{JSON: asJSON, None: "There are no webhooks that you can manage."})
	})
	command.JSONFlag(cmd, &asJSON)
	return cmd
}

func webhookColumns() []command.Column[client.Webhook] {
	type w = client.Webhook
	return []command.Column[w]{
		{Head: "ID", Only: command.Whole, Cell: func(w w) string { return w.ID }},
		{Head: "STATE", Cell: func(w w) string {
			switch {
			case w.State == client.Paused:
				return "paused: " + w.Reason
			case w.Tries > 0:
				return fmt.Sprintf("try %d failed", w.Tries)
			}
			return w.State
		}},
		{Head: "DELIVERED", Cell: func(w w) string { return fmt.Sprint(w.Deliveries) }},
		{Head: "EVENTS", Cell: func(w w) string {
			if len(w.Events) == 0 {
				return "all"
			}
			return strings.Join(w.Events, " ")
		}},
		{Head: "URL", Cell: func(w w) string { return w.URL }},
		{Head: "LABEL", Cell: func(w w) string { return w.Label }},
	}
}

func showCommand(p command.Process) *cobra.Command {
	return onWebhook(p, "show WEBHOOK", "Show a webhook and why it is paused", `show prints a webhook, and its progress or the reason why it is paused.`,
		func(ctx context.Context, c *client.Client, w client.Webhook, asJSON bool) error {
			if asJSON {
				return display.WriteJSON(p.Out, w)
			}
			lines := [][2]string{
				{"id", w.ID}, {"url", w.URL}, {"label", w.Label}, {"dataspace", w.DataspaceID}, {"events", strings.Join(w.Events, " ")}, {"state", w.State},
				{"reason", w.Reason}, {"because", w.Because}, {"paused", display.Time(w.Paused.Time)}, {"delivered", fmt.Sprint(w.Deliveries)},
				{"tries", fmt.Sprint(w.Tries)}, {"next try", display.Time(w.NextTry.Time)}, {"made", display.Time(w.Created.Time)},
			}
			for _, line := range lines {
				if line[1] == "" {
					continue
				}
				if _, err := display.Fprintf(p.Out, "%-10s %s\n", line[0], display.Printable(line[1])); err != nil {
					return err
				}
			}
			return nil
		})
}

func editCommand(p command.Process) *cobra.Command {
	var url, label string
	var events []string
	cmd := onWebhook(p, "edit WEBHOOK", "Change a webhook",
		`edit changes the URL, the events or the label of a webhook. It then acts for
you: it pauses when you lose the role. --event all selects all events.`, nil)
	flags := cmd.Flags()
	flags.StringVar(&url, "url", "", "the new `URL`")
	flags.StringVar(&label, "label", "", "`TEXT` of up to 100 characters that describes it")
	flags.StringArrayVar(&events, "event", nil, "`KIND` of event that it receives; replaces the previous kinds; may be repeated; all: every kind")
	eachWebhook(p, cmd, func(ctx context.Context, c *client.Client, w client.Webhook, asJSON bool) error {
		var edit client.WebhookEdit
		if flags.Changed("url") {
			edit.URL = &url
		}
		if flags.Changed("label") {
			edit.Label = &label
		}
		if flags.Changed("event") {
			kinds := slices.DeleteFunc(slices.Clone(events), func(kind string) bool { return kind == "all" })
			edit.Events = &kinds
		}
		if edit == (client.WebhookEdit{}) {
			return exit.Usagef("nothing to change: give --url, --event or --label")
		}
		w, err := c.Webhooks.Edit(ctx, w.ID, edit)
		if err != nil {
			return err
		}
		return p.Done(w, asJSON, "Changed the webhook %s.\n", display.Printable(w.ID))
	})
	return cmd
}

func removeCommand(p command.Process) *cobra.Command {
	return onWebhook(p, "rm WEBHOOK", "Remove a webhook", `rm permanently removes a webhook, with the history of its deliveries.`,
		func(ctx context.Context, c *client.Client, w client.Webhook, asJSON bool) error {
			if err := c.Webhooks.Delete(ctx, w.ID); err != nil {
				return err
			}
			return p.Done(w, asJSON, "Removed the webhook %s, which sent to %s.\n", display.Printable(w.ID), display.Printable(w.URL))
		})
}

func rotateCommand(p command.Process) *cobra.Command {
	return onWebhook(p, "rotate WEBHOOK", "Give a webhook another secret",
		`rotate gives a webhook a new secret and prints it. For a day messages are also
signed with the previous secret, so that you have time to change the receiver.`,
		func(ctx context.Context, c *client.Client, w client.Webhook, asJSON bool) error {
			rotated, err := c.Webhooks.Rotate(ctx, w.ID)
			if err != nil {
				return err
			}
			return showSecret(p, rotated, asJSON, "The new secret of the webhook %s is below; it cannot be shown again.\n")
		})
}

func resumeCommand(p command.Process) *cobra.Command {
	return onWebhook(p, "resume WEBHOOK", "Resume a paused webhook",
		`resume lets a paused webhook send again, from the message at which it stopped.
It then acts for you. "labshelf webhook show" shows why it was paused, and
"labshelf webhook skip --all" discards the pending messages.`,
		func(ctx context.Context, c *client.Client, w client.Webhook, asJSON bool) error {
			resumed, err := c.Webhooks.Resume(ctx, w.ID)
			if err != nil {
				return err
			}
			return p.Done(resumed, asJSON, "The webhook %s is active.\n", display.Printable(w.ID))
		})
}

func skipCommand(p command.Process) *cobra.Command {
	var all bool
	cmd := onWebhook(p, "skip WEBHOOK", "Skip a message that cannot be delivered",
		`skip lets a webhook skip the message that failed, so that it sends the following
ones; with --all, it skips all messages up to now. A paused webhook stays
paused.`, nil)
	cmd.Flags().BoolVar(&all, "all", false, "skip all messages up to now")
	return eachWebhook(p, cmd, func(ctx context.Context, c *client.Client, w client.Webhook, asJSON bool) error {
		skipped, err := c.Webhooks.Skip(ctx, w.ID, all)
		if err != nil {
			return err
		}
		return p.Done(skipped, asJSON, "The webhook %s continues after it.\n", display.Printable(w.ID))
	})
}

func deliveriesCommand(p command.Process) *cobra.Command {
	return onWebhook(p, "deliveries WEBHOOK", "List the last messages of a webhook",
		`deliveries lists the last 200 messages of a webhook, the newest first, and the
responses of the receiver. --json also shows the beginning of the response.`,
		func(ctx context.Context, c *client.Client, w client.Webhook, asJSON bool) error {
			all, err := c.Webhooks.Deliveries(ctx, w.ID)
			return command.Show(p, command.Sequence(all, err), deliveryColumns(), command.View{JSON: asJSON, None: "The webhook has not sent any message yet."})
		})
}

func deliveryColumns() []command.Column[client.Delivery] {
	type d = client.Delivery
	return []command.Column[d]{
		{Head: "NUMBER", Cell: func(d d) string { return fmt.Sprint(d.Number) }},
		{Head: "LAST TRY", Cell: func(d d) string { return display.Time(d.Last.Time) }},
		{Head: "EVENT", Cell: func(d d) string { return d.Event }},
		{Head: "STATE", Cell: func(d d) string { return d.State }},
		{Head: "TRIES", Cell: func(d d) string { return fmt.Sprint(d.Tries) }},
		{Head: "ANSWER", Cell: answered},
		{Head: "ID", Only: command.Whole, Cell: func(d d) string { return d.MessageID }},
	}
}

// answered returns the status of the last response, or why no response arrived.
func answered(d client.Delivery) string {
	if d.Status == 0 {
		return d.Error
	}
	return fmt.Sprint(d.Status)
}

func repeatCommand(p command.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "repeat WEBHOOK NUMBER",
		Short: "Send a message again",
		Long: `repeat sends a message again, by its number, as "labshelf webhook deliveries"
shows it, and waits for the response. The receiver gets it with the same id.`,
		Example: "  labshelf webhook repeat 01JD2QB4C8D2F6G1H5J9K3M7N2 12",
		Args:    command.Exactly(2, "a webhook and the number of a delivery"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		number, err := strconv.ParseUint(args[1], 10, 64)
		if err != nil {
			return exit.Usagef("the number of a delivery must be a whole number, not %q", args[1])
		}
		w, err := findWebhook(ctx, c, args[0])
		if err != nil {
			return err
		}
		d, err := c.Webhooks.RepeatDelivery(ctx, w.ID, number)
		if err != nil {
			return err
		}
		return p.Done(d, asJSON, "%s: %s\n", display.Printable(d.MessageID), display.Printable(answered(d)))
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, webhooksOffered)
}

// onWebhook returns a command for one webhook.
func onWebhook(p command.Process, use, short, long string, run func(context.Context, *client.Client, client.Webhook, bool) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: command.Exactly(1, "one webhook, by its id or label, as \"labshelf webhook ls\" shows it")}
	if run == nil {
		return cmd
	}
	return eachWebhook(p, cmd, run)
}

func eachWebhook(p command.Process, cmd *cobra.Command, run func(context.Context, *client.Client, client.Webhook, bool) error) *cobra.Command {
	var asJSON bool
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		w, err := findWebhook(ctx, c, args[0])
		if err != nil {
			return err
		}
		return run(ctx, c, w, asJSON)
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, webhooksOffered)
}

// findWebhook returns the webhook that ref names: by its id, or by its label if no other webhook
// has it.
func findWebhook(ctx context.Context, c *client.Client, ref string) (client.Webhook, error) {
	all, err := c.Webhooks.List(ctx)
	if err != nil {
		return client.Webhook{}, err
	}
	fits := slices.DeleteFunc(all, func(w client.Webhook) bool { return w.ID != ref && (ref == "" || w.Label != ref) })
	switch len(fits) {
	case 0:
		return client.Webhook{}, fmt.Errorf("there is no webhook %q that you can manage; \"labshelf webhook ls\" lists them", ref)
	case 1:
		return fits[0], nil
	}
	return client.Webhook{}, fmt.Errorf("%d webhooks have the label %q; give the id of one, as \"labshelf webhook ls\" shows it", len(fits), ref)
}

func webhooksOffered(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
	all, err := c.Webhooks.List(ctx)
	return completion.Matching(command.Sequence(all, err), typed, func(w client.Webhook) (string, string) { return w.ID, w.State + " " + w.Label + " " + w.URL })
}
