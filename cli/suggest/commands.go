package suggest

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/exit"
)

// WantSubcommand is the RunE of a command that has only subcommands. It returns an exit.ErrUsage
// that lists them.
func WantSubcommand(cmd *cobra.Command, _ []string) error {
	return exit.Usagef("%q wants a command: %s", cmd.CommandPath(), strings.Join(Subcommands(cmd), ", "))
}

// NoSuchCommand is the Args of a command that has only subcommands. It rejects any argument, and
// suggests the most similar subcommand.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	known := Subcommands(cmd)
	if meant := Habit(args[0], known); meant != "" {
		return fmt.Errorf("%q has no command %q; use %q", cmd.CommandPath(), args[0], cmd.CommandPath()+" "+meant)
	}
	return fmt.Errorf("%q has no command %q%s", cmd.CommandPath(), args[0], DidYouMean("", args[0], known))
}

// Subcommands returns the names of the subcommands and help topics that the help lists.
func Subcommands(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}
