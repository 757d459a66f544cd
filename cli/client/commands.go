// Package commands has the commands with which people use a service from a terminal, one in each
// file. They access services by package client only. The work of put, get and harvest is done by
// packages of their own. The commands that run a service are in package cli.
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
	"labshelf/cli/display"
	"labshelf/cli/meter"
	"labshelf/client"
	"labshelf/docs"
)

// The groups in which help lists commands, by cobra's id.
const (
	GroupRun    = "run"
	GroupUse    = "use"
	GroupPeople = "people"
	GroupCare   = "care"
)

// Groups returns the groups in the order of help.
func Groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: GroupRun, Title: "Run a service:"},
		{ID: GroupUse, Title: "Use a service:"},
		{ID: GroupPeople, Title: "Access control:"},
		{ID: GroupCare, Title: "Maintenance:"},
	}
}

// Process is the environment of the commands, and what they share with those of package cli.
type Process struct {
	Environ  []string // as from os.Environ
	Version  string   // of this program; "" where it is unknown
	In       io.Reader
	Out, Err io.Writer // results; messages and progress

	// UntilSignal calls run and cancels its context at the first signal. A command that can be
	// interrupted returns ErrInterrupted then.
	UntilSignal func(run func(context.Context) error) error
	// RemoteFlags defines the flags that select service and key.
	RemoteFlags func(*pflag.FlagSet)
	// Connect reads these flags. Without a key it returns an error, unless open is set: then the
	// client has none. The caller closes the client.
	Connect func(flags *pflag.FlagSet, open bool) (*client.Client, error)
	// BaseURL returns the base URL of the service that text means. Its error states the rule.
	BaseURL func(text string) (string, error)
	// ExitCodes returns the annotations of a command that has these exit codes in addition to the
	// common ones.
	ExitCodes func(codes ...int) map[string]string
	// NewKeyIn makes a key for a user in the data directory of a service that is stopped.
	NewKeyIn func(ctx context.Context, data, user string) (string, error)
	// Refuse and Want are Args and RunE of commands that only have subcommands.
	Refuse cobra.PositionalArgs
	Want   func(*cobra.Command, []string) error

	meters *atomic.Int64 // number of meters on the terminal
}

// All returns the commands, each in its group.
func All(p Process) []*cobra.Command {
	p.meters = new(atomic.Int64)
	return append([]*cobra.Command{
		group(GroupUse, loginCommand(p)), group(GroupUse, logoutCommand(p)), group(GroupUse, statusCommand(p)),
		group(GroupUse, lsCommand(p)), group(GroupUse, findCommand(p)), group(GroupUse, putCommand(p)), group(GroupUse, getCommand(p)), group(GroupUse, catCommand(p)),
		group(GroupUse, harvestCommand(p)), group(GroupUse, watchCommand(p)),
		group(GroupUse, describeCommand(p)), group(GroupUse, metadataCommand(p)), group(GroupUse, cpCommand(p)), group(GroupUse, mvCommand(p)), group(GroupUse, rmCommand(p)), group(GroupUse, restoreCommand(p)),
		group(GroupUse, versionsCommand(p)), group(GroupUse, retentionCommand(p)), group(GroupUse, usageCommand(p)),
		group(GroupUse, auditCommand(p)),
		group(GroupUse, setCommand(p)), group(GroupUse, folderCommand(p)), group(GroupUse, unlockCommand(p)), group(GroupUse, dataspaceCommand(p)), group(GroupUse, schemaCommand(p)), group(GroupUse, completionCommand(p)),
		group(GroupPeople, grantCommand(p)), group(GroupPeople, revokeCommand(p)), group(GroupPeople, userCommand(p)), group(GroupPeople, keyCommand(p)),
		group(GroupPeople, linkCommand(p)), group(GroupPeople, webhookCommand(p)), group(GroupCare, indexCommand(p)),
		bashCommand(p),
	}, topics()...)
}

//go:embed topics/*.txt
var topicTexts embed.FS

// topics are the help topics that are not commands: each a text of 80 columns in topics/.
func topics() (list []*cobra.Command) {
	for _, t := range []struct{ name, alias, short string }{
		{"start", "starting", "From nothing to sharing files in five minutes"},
		{"references", "reference", "How dataspaces, sets, resources and users are named"},
		{"search", "query", "The language of the search: words, phrases, fields and ranges"},
		{"instrument", "instruments", "Send the files of an instrument by themselves, day after day"},
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
// file. Help lists docs, which lists the others, and those that an operator needs first. The text
// of a page is read when it is printed.
func pages() []*cobra.Command {
	topic := func(name, title string, text func() string, aliases ...string) *cobra.Command {
		cmd := &cobra.Command{Use: name, Aliases: aliases, Short: title, Annotations: map[string]string{pageKey: name}}
		cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _, _ = io.WriteString(cmd.OutOrStdout(), text()) })
		return cmd
	}
	list := []*cobra.Command{topic("docs", "All pages of the documentation", docs.Index, "manual")}
	for _, p := range docs.Pages() {
		cmd := topic(p.Topic(), p.Title, p.Text, p.Name(), p.File, "docs/"+p.File)
		cmd.Hidden = p.File != "operations.md" && p.File != docs.Config
		list = append(list, cmd)
	}
	return list
}

// output is where a command writes its results and its progress.
func (p Process) output(asJSON bool) report.Output {
	return report.Output{Out: p.Out, Err: p.Err, JSON: asJSON, NewMeter: p.newMeter}
}

func group(id string, cmd *cobra.Command) *cobra.Command {
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
		c, err := p.Connect(cmd.Flags(), false)
		if err != nil {
			return err
		}
		defer c.Close()
		return p.UntilSignal(func(ctx context.Context) error { return p.advise(ctx, c, run(ctx, p.announceRetries(c), args)) })
	}
	if cmd.Annotations == nil {
		cmd.Annotations = p.ExitCodes(130)
	}
	p.RemoteFlags(cmd.Flags())
	_ = cmd.RegisterFlagCompletionFunc("server", loggedIn) // a process may lack the flag
	return cmd
}

// branch is a command that only has subcommands.
func (p Process) branch(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: p.Refuse, RunE: p.Want}
	cmd.AddCommand(below...)
	return cmd
}

// done reports what was made or changed, for people or as the new record in JSON.
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
