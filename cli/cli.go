// Package cli is the command line: it reads the configuration, wires the rooms of the house together, and runs and ends the
// service. Every other package gets what it needs from here.
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/client"
	"labshelf/commands"
)

// program is the name under which people call it.
const program = "labshelf"

// helpWidth is the width of a terminal that nobody has made wider.
const helpWidth = 80

// process is what commands know of the process that they run in.
type process struct {
	environ        []string // as from os.Environ
	stdout, stderr io.Writer
}

// Main runs the command that args asks for (without the program's name, as in os.Args[1:]) and returns the exit code of the
// process; "labshelf help serve" lists the codes. What a command was asked for goes to stdout; errors and logs go to stderr.
// After a second signal it returns while the service may still be running: the caller ends the process.
func Main(args, environ []string, stdout, stderr io.Writer) int {
	root := rootCommand(process{environ: environ, stdout: stdout, stderr: stderr})
	understood := false
	root.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	if err == nil {
		return exitOK
	}
	if !understood {
		err = usageError{err}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(explain(err)), "\n") {
		_, _ = fmt.Fprintf(stderr, "%s: %s\n", program, line)
	}
	if errors.Is(err, errUsage) {
		_, _ = fmt.Fprintf(stderr, "%q shows how it is used\n", cmd.CommandPath()+" --help")
	}
	return exitCode(err)
}

// rootCommand returns the tree of all commands.
func rootCommand(p process) *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "A research data repository",
		Long: `labshelf keeps files in sets and dataspaces, knows who may read and write them,
and gives them out over HTTP.

"labshelf serve" starts it; everything that it keeps is in one directory.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE:          wantSubcommand,
	}
	root.AddGroup(commands.Groups()...)
	addTo(root, commands.GroupRun, serveCommand(p), demoCommand(p), doctorCommand(p))
	root.AddCommand(commands.All(p.desk())...)
	addTo(root, commands.GroupCare, checkCommand(p), backupCommand(p), repairCommand(p), purgeCommand(p), compactCommand(p))
	root.AddCommand(versionCommand(p))
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		_, _ = io.WriteString(cmd.OutOrStdout(), helpText(cmd))
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if before := cmd.Flags().Args(); len(before) > 0 && cmd.HasSubCommands() {
			return noSuchCommand(cmd, before) // the flag may well be right
		}
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) {
			return wrongValue(invalid)
		}
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
			return err
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		return fmt.Errorf("%w%s", err, didYouMean("--", unknown.GetSpecifiedName(), known))
	})
	return root
}

// wrongValue says what a flag takes. Flags that take a text have rules of their own.
func wrongValue(invalid *pflag.InvalidValueError) error {
	rule := map[string]string{"int": "a whole number", "bool": "true or false"}[invalid.GetFlag().Value.Type()]
	switch {
	case rule == "":
		return invalid
	case errors.Is(invalid, strconv.ErrRange):
		rule = "a smaller number"
	}
	return fmt.Errorf("--%s must be %s, not %q", invalid.GetFlag().Name, rule, invalid.GetValue())
}

func addTo(root *cobra.Command, group string, below ...*cobra.Command) {
	for _, cmd := range below {
		cmd.GroupID = group
	}
	root.AddCommand(below...)
}

// desk is what the commands of package commands share with those here.
func (p process) desk() commands.Process {
	return commands.Process{
		Environ: p.environ, Version: version(), In: os.Stdin, Out: p.stdout, Err: p.stderr,
		UntilSignal: untilSignal,
		RemoteFlags: addRemoteFlags,
		Connect: func(flags *pflag.FlagSet, open bool) (*client.Client, error) {
			return remoteOf(flags, p.environ, open)
		},
		BaseURL:   serviceURL,
		ExitCodes: exits,
		NewKeyIn:  newKeyIn,
		Refuse:    noSuchCommand,
		Want:      wantSubcommand,
	}
}

// wantSubcommand is what a command does that does nothing by itself.
func wantSubcommand(cmd *cobra.Command, _ []string) error {
	return usageError{fmt.Errorf("%q wants a command: %s", cmd.CommandPath(), strings.Join(subcommands(cmd), ", "))}
}

// noSuchCommand refuses what follows the name of such a command.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%q has no command %q%s", cmd.CommandPath(), args[0], didYouMean("", args[0], subcommands(cmd)))
}

func subcommands(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command or topic]",
		Short: "Show what a command does, or tell about a topic",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			switch {
			case err != nil:
				return usageError{err}
			case len(rest) > 0 && about == cmd.Root():
				hint := cmp.Or(didYouMean("", rest[0], subcommands(about)), fmt.Sprintf("; %q lists them", program+" help"))
				return usageError{fmt.Errorf("there is no command or topic %q%s", rest[0], hint)}
			case len(rest) > 0:
				return usageError{noSuchCommand(about, rest)}
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: helpOffers,
	}
}

// helpOffers completes commands and topics.
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

// helpText ends with the exit codes that a command can give.
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

// didYouMean returns the end of an error about an unknown name: the known one that it resembles, with prefix, or nothing.
func didYouMean(prefix, name string, known []string) string {
	best, least := "", 1+max(1, len(name)/3)
	for _, candidate := range known {
		if d := distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s%s?", prefix, best)
}

// distance is the number of bytes to put in, take out, replace or swap with their neighbour to make b of a.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before = last
	}
	return row[len(b)]
}
