package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/cli/suggest"
)

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command or topic]",
		Short: "Show what a command does, or explain a topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return exit.Usage(err)
			case len(rest) > 0 && about == cmd.Root():
				if meant := suggest.Habit(rest[0], suggest.Subcommands(about)); meant != "" {
					return exit.Usage(fmt.Errorf("there is no command or topic %q; the command is %q", rest[0], process.Program+" "+meant))
				}
				hint := cmp.Or(suggest.DidYouMean("", rest[0], suggest.Subcommands(about)), fmt.Sprintf("; %q lists them", process.Program+" help"))
				return exit.Usage(fmt.Errorf("there is no command or topic %q%s", rest[0], hint))
			case len(rest) > 0:
				return exit.Usage(suggest.NoSuchCommand(about, rest))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: helpOffers,
	}
}

// helpOffers completes the names of commands and topics.
func helpOffers(cmd *cobra.Command, args []string, typed string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
	about, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, sub := range about.Commands() {
		if strings.HasPrefix(sub.Name(), typed) && (sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand()) {
			list = append(list, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// helpText returns the help of a command. It ends with the exit codes of the command.
func helpText(cmd *cobra.Command) string {
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	if !cmd.Runnable() && !cmd.HasSubCommands() { // a topic
		return strings.TrimSpace(about) + "\n"
	}
	usage := strings.Replace(cmd.UsageString(), cmd.LocalFlags().FlagUsages(), cmd.LocalFlags().FlagUsagesWrapped(helpWidth), 1)
	return fmt.Sprintf("%s\n\n%s\n%s", strings.TrimSpace(about), usage, exitNote(cmd))
}
