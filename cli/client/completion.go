package client

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/completion"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func completionCommand(p Process) *cobra.Command {
	var names []string
	for _, s := range completion.Shells() {
		names = append(names, s.Name)
	}
	return &cobra.Command{
		Use:   "completion bash | zsh | fish | powershell",
		Short: "Print a script that lets your shell complete commands and names",
		Long: `completion prints a script that lets a shell complete commands and flags and, if
you are signed in to a service, the names of dataspaces, sets, users and
resources. Without a login, or if the service does not answer within two
seconds, it offers no names.`,
		Example: `  bash, in ~/.bashrc:
    source <(labshelf completion bash)
  zsh, in ~/.zshrc, after compinit:
    source <(labshelf completion zsh)
  fish, once:
    labshelf completion fish > ~/.config/fish/completions/labshelf.fish
  PowerShell, in the file that $PROFILE names:
    labshelf completion powershell | Out-String | Invoke-Expression`,
		Args:      exactly(1, "the name of one shell: "+strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, strings.ToLower(args[0]))
			if i < 0 {
				return exit.Usagef("there is no completion for %q: the shells are %s", args[0], strings.Join(names, ", "))
			}
			return completion.Shells()[i].WriteScript(cmd.Root(), p.Out)
		},
	}
}

// bashCommand answers the script for bash. Readline inserts the common prefix of the replies
// unquoted, so that names of other users could become commands. Therefore this command quotes the
// replies.
func bashCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:    "__bash LINE WORD TYPE COLUMNS",
		Hidden: true,
		Args:   exactly(4, "the line up to the cursor, the part of it that is replaced, COMP_TYPE and COLUMNS"),
		RunE: func(cmd *cobra.Command, args []string) error {
			columns, err := strconv.Atoi(args[3])
			if err != nil {
				return exit.Usagef("COLUMNS: %w", err)
			}
			how, replies := completion.Bash(cmd.Root(), args[0], args[1], args[2], columns)
			_, err = display.Fprintln(p.Out, strings.Join(append([]string{how}, replies...), "\n"))
			return err
		},
	}
}

// completes sets the offers for the arguments of a command. If more is set, the last offer also
// applies to further arguments. Errors are ignored.
func (p Process) completes(cmd *cobra.Command, more bool, offers ...completion.Offer) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= len(offers) && !more {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.ask(cmd, offers[min(len(args), len(offers)-1)], typed)
	}
	return cmd
}

// completesFlag sets the offer for the value of a flag.
func (p Process) completesFlag(cmd *cobra.Command, flag string, o completion.Offer) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return p.ask(cmd, o, typed)
	})
	if err != nil {
		panic(err) // the command does not have the flag
	}
}

// ask gets an offer from the service, if the user is signed in.
func (p Process) ask(cmd *cobra.Command, o completion.Offer, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	c, err := p.connect(cmd.Flags(), p.Process, false)
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

// completesThenFolder sets an offer for the first argument, and folders for the second one.
func (p Process) completesThenFolder(cmd *cobra.Command, o completion.Offer) *cobra.Command {
	return p.completesThen(cmd, o, cobra.ShellCompDirectiveFilterDirs)
}

// completesThenFile sets an offer for the first argument, and files for the second one.
func (p Process) completesThenFile(cmd *cobra.Command, o completion.Offer) *cobra.Command {
	return p.completesThen(cmd, o, cobra.ShellCompDirectiveDefault)
}

func (p Process) completesThen(cmd *cobra.Command, o completion.Offer, second cobra.ShellCompDirective) *cobra.Command {
	p.completes(cmd, false, o)
	what := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return nil, second
		}
		return what(cmd, args, typed)
	}
	return cmd
}
