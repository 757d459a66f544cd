// Package client contains the commands with which people use a service from a terminal, one in each
// file. They access services only through labshelf/client. Separate packages do the work of put,
// get and harvest. The commands that run a service are in package server.
package client

import (
	"context"
	"embed"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/client/report"
	"labshelf/cli/connection"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/group"
	"labshelf/cli/meter"
	"labshelf/cli/process"
	"labshelf/cli/suggest"
	"labshelf/client"
	"labshelf/docs"
)

// Process is the environment of the commands.
type Process struct {
	process.Process
	meters *atomic.Int64 // number of meters on the terminal

	// connect and untilSignal are connection.Open and process.UntilSignal; tests replace them.
	connect     func(flags *pflag.FlagSet, p process.Process, open bool) (*client.Client, error)
	untilSignal func(run func(context.Context) error) error
}

// Commands returns the commands, each in its group, and the help topics.
func Commands(p process.Process) []*cobra.Command {
	return commandsOf(Process{Process: p, connect: connection.Open, untilSignal: process.UntilSignal})
}

func commandsOf(p Process) []*cobra.Command {
	p.meters = new(atomic.Int64)
	return append([]*cobra.Command{
		in(group.Use, loginCommand(p)), in(group.Use, logoutCommand(p)), in(group.Use, statusCommand(p)),
		in(group.Use, lsCommand(p)), in(group.Use, findCommand(p)), in(group.Use, putCommand(p)), in(group.Use, getCommand(p)), in(group.Use, catCommand(p)),
		in(group.Use, harvestCommand(p)), in(group.Use, watchCommand(p)),
		in(group.Use, describeCommand(p)), in(group.Use, metadataCommand(p)), in(group.Use, cpCommand(p)), in(group.Use, mvCommand(p)), in(group.Use, rmCommand(p)), in(group.Use, restoreCommand(p)),
		in(group.Use, versionsCommand(p)), in(group.Use, retentionCommand(p)), in(group.Use, usageCommand(p)),
		in(group.Use, auditCommand(p)),
		in(group.Use, setCommand(p)), in(group.Use, folderCommand(p)), in(group.Use, unlockCommand(p)), in(group.Use, dataspaceCommand(p)), in(group.Use, schemaCommand(p)), in(group.Use, completionCommand(p)),
		in(group.People, grantCommand(p)), in(group.People, revokeCommand(p)), in(group.People, userCommand(p)), in(group.People, keyCommand(p)),
		in(group.People, linkCommand(p)), in(group.People, webhookCommand(p)), in(group.Care, indexCommand(p)),
		bashCommand(p),
	}, topics()...)
}

//go:embed topics/*.txt
var topicTexts embed.FS

// topics are the help topics that are not commands, each a text of 80 columns in topics/.
func topics() (list []*cobra.Command) {
	for _, t := range []struct{ name, alias, short string }{
		{"start", "starting", "Share your first files in five minutes"},
		{"references", "reference", "How to refer to dataspaces, sets, resources and users"},
		{"search", "query", "The language of the search: words, phrases, fields and ranges"},
		{"instrument", "instruments", "Send an instrument's files automatically, every day"},
		{"scripts", "script", "JSON, exit codes and the environment, for programs"},
	} {
		text, err := topicTexts.ReadFile(fmt.Sprintf("topics/%s.txt", t.name))
		if err != nil {
			panic(err) // the file is embedded
		}
		list = append(list, &cobra.Command{Use: t.name, Aliases: []string{t.alias}, Short: t.short, Long: string(text)})
	}
	return append(list, pages()...)
}

// pageKey is the annotation of topics that are pages of the documentation, which are wider than a
// terminal.
const pageKey = "page"

// pages returns the pages of the documentation as help topics, each also under the name of its
// file. The help lists docs, which lists all pages, and the pages that an operator needs first. The
// text of a page is read when it is printed.
func pages() []*cobra.Command {
	topic := func(name, title string, text func() string, aliases ...string) *cobra.Command {
		cmd := &cobra.Command{Use: name, Aliases: aliases, Short: title, Annotations: map[string]string{pageKey: name}}
		cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _, _ = io.WriteString(cmd.OutOrStdout(), text()) })
		return cmd
	}
	list := []*cobra.Command{topic("docs", "All pages of the documentation", docs.Index, "manual")}
	for _, p := range docs.Pages() {
		cmd := topic(p.Topic(), p.Title, p.Text, p.Name(), p.Base(), "docs/"+p.Base(), "docs/"+p.File)
		cmd.Hidden = p.Name() != "operations" && p.File != docs.Config
		list = append(list, cmd)
	}
	return list
}

// output is where a command writes its results and its progress.
func (p Process) output(asJSON bool) report.Output {
	return report.Output{Out: p.Out, Err: p.Err, JSON: asJSON, NewMeter: p.newMeter}
}

func in(id string, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = id
	return cmd
}

// remote adds the flags for a service to cmd. run gets a client, which is closed afterwards, and a
// context that the first signal cancels. Errors get advice.
func (p Process) remote(cmd *cobra.Command, run func(ctx context.Context, c *client.Client, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := wantValues(cmd.Flags()); err != nil {
			return err
		}
		c, err := p.connect(cmd.Flags(), p.Process, false)
		if err != nil {
			return err
		}
		defer c.Close()
		return p.untilSignal(func(ctx context.Context) error { return p.advise(ctx, c, run(ctx, p.announceRetries(c), args)) })
	}
	if cmd.Annotations == nil {
		cmd.Annotations = exit.Codes(exit.CodeInterrupted)
	}
	connection.AddFlags(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("server", loggedIn) // a process may not have the flag
	return cmd
}

// branch returns a command that only has subcommands.
func (p Process) branch(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: suggest.NoSuchCommand, RunE: suggest.WantSubcommand}
	cmd.AddCommand(below...)
	return cmd
}

// done reports an object that was created or changed, as a sentence or as the new record in JSON.
func (p Process) done(record any, asJSON bool, format string, args ...any) error {
	if asJSON {
		return display.WriteJSON(p.Out, record)
	}
	_, err := display.Fprintf(p.Out, format, args...)
	return err
}

func (p Process) newMeter(what string) *meter.Meter {
	return meter.NewShared(p.Err, what, p.meters)
}
