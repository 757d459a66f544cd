package command

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/completion"
	"labshelf/cli/logins"
	"labshelf/client"
)

// Completes sets the offers for the arguments of a command. If more is set, the last offer also
// applies to further arguments. Errors are ignored.
func (p Process) Completes(cmd *cobra.Command, more bool, offers ...completion.Offer) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(offers) && !more {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.Ask(cmd, offers[min(len(args), len(offers)-1)], typed)
	}
	return cmd
}

// CompletesFlag sets the offer for the value of a flag.
func (p Process) CompletesFlag(cmd *cobra.Command, flag string, o completion.Offer) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.Ask(cmd, o, typed)
	})
	if err != nil {
		panic(err) // the command does not have the flag
	}
}

// Ask gets an offer from the service, if the user is signed in.
func (p Process) Ask(cmd *cobra.Command, o completion.Offer, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	c, err := p.Connect(cmd.Flags(), p.Process, false)
	if err != nil {
		return nil, directive
	}
	defer c.Close()
	ctx, stop := context.WithTimeout(context.Background(), completion.Timeout)
	defer stop()
	offered := o(ctx, c.WithRetries(client.Retries{Tries: 1}), typed)
	if len(offered) > 0 {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	for _, text := range offered {
		if name, _, _ := strings.Cut(text, "\t"); !strings.HasSuffix(name, "/") && !strings.HasSuffix(name, ":") {
			directive &^= cobra.ShellCompDirectiveNoSpace
		}
	}
	return offered, directive
}

// CompletesThenFolder sets an offer for the first argument, and folders for the second one.
func (p Process) CompletesThenFolder(cmd *cobra.Command, o completion.Offer) *cobra.Command {
	return p.completesThen(cmd, o, cobra.ShellCompDirectiveFilterDirs)
}

// CompletesThenFile sets an offer for the first argument, and files for the second one.
func (p Process) CompletesThenFile(cmd *cobra.Command, o completion.Offer) *cobra.Command {
	return p.completesThen(cmd, o, cobra.ShellCompDirectiveDefault)
}

func (p Process) completesThen(cmd *cobra.Command, o completion.Offer, second cobra.ShellCompDirective) *cobra.Command {
	p.Completes(cmd, false, o)
	what := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return nil, second
		}
		return what(cmd, args, typed)
	}
	return cmd
}

// LoggedIn offers the services that have a stored key.
func LoggedIn(_ *cobra.Command, _ []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	kept, err := logins.Stored()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, base := range slices.Sorted(maps.Keys(kept.Services)) {
		if strings.HasPrefix(base, typed) {
			list = append(list, base)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}
