// Package client contains the commands with which people use a service from a terminal, one in each
// file. They access services only through labshelf/client. Separate packages do the work of put,
// get and harvest. The commands that run a service are in package server.
package client

import (
	"embed"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/spf13/cobra"

	"labshelf/cli/client/auditlog"
	"labshelf/cli/client/command"
	"labshelf/cli/client/find"
	"labshelf/cli/client/link"
	"labshelf/cli/client/people"
	"labshelf/cli/client/schema"
	"labshelf/cli/client/webhook"
	"labshelf/cli/connection"
	"labshelf/cli/group"
	"labshelf/cli/process"
	"labshelf/docs"
)

// Commands returns the commands, each in its group, and the help topics.
func Commands(p process.Process) []*cobra.Command {
	return commandsOf(command.Process{Process: p, Connect: connection.Open, UntilSignal: process.UntilSignal})
}

func commandsOf(p command.Process) []*cobra.Command {
	p.Meters = new(atomic.Int64)
	return append([]*cobra.Command{
		in(group.Use, loginCommand(p)), in(group.Use, logoutCommand(p)), in(group.Use, statusCommand(p)),
		in(group.Use, lsCommand(p)), in(group.Use, find.Command(p)), in(group.Use, putCommand(p)), in(group.Use, getCommand(p)), in(group.Use, catCommand(p)),
		in(group.Use, harvestCommand(p)), in(group.Use, watchCommand(p)),
		in(group.Use, describeCommand(p)), in(group.Use, metadataCommand(p)), in(group.Use, cpCommand(p)), in(group.Use, mvCommand(p)), in(group.Use, rmCommand(p)), in(group.Use, restoreCommand(p)),
		in(group.Use, versionsCommand(p)), in(group.Use, retentionCommand(p)), in(group.Use, usageCommand(p)),
		in(group.Use, auditlog.Command(p)),
		in(group.Use, setCommand(p)), in(group.Use, folderCommand(p)), in(group.Use, unlockCommand(p)), in(group.Use, dataspaceCommand(p)), in(group.Use, schema.Command(p)), in(group.Use, completionCommand(p)),
		in(group.People, people.GrantCommand(p)), in(group.People, people.RevokeCommand(p)), in(group.People, people.UserCommand(p)), in(group.People, people.KeyCommand(p)),
		in(group.People, link.Command(p)), in(group.People, webhook.Command(p)), in(group.Care, find.IndexCommand(p)),
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

func in(id string, cmd *cobra.Command) *cobra.Command {
	cmd.GroupID = id
	return cmd
}
