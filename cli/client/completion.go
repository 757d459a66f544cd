package client

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/display"
	"labshelf/cli/exit"
)

func completionCommand(p command.Process) *cobra.Command {
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
		Args:      command.Exactly(1, "the name of one shell: "+strings.Join(names, ", ")),
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
func bashCommand(p command.Process) *cobra.Command {
	return &cobra.Command{
		Use:    "__bash LINE WORD TYPE COLUMNS",
		Hidden: true,
		Args:   command.Exactly(4, "the line up to the cursor, the part of it that is replaced, COMP_TYPE and COLUMNS"),
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
