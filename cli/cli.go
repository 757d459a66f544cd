// Package cli is the command line. It reads the configuration, connects the packages, and runs and
// stops the service. Every other package gets its dependencies from here.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/client"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/group"
	"labshelf/cli/process"
	"labshelf/cli/server"
	"labshelf/cli/suggest"
	"labshelf/formats/extraction/child"
)

// helpWidth is the usual width of a terminal.
const helpWidth = 80

// Main runs the command in args, which do not contain the program's name, as in os.Args[1:]. It
// returns the exit code of the process; "labshelf help serve" lists the codes. Results go to
// stdout; errors and logs go to stderr. After a second signal Main returns while the service may
// still be running: the caller must end the process.
func Main(args, environ []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == child.Command { // started once for each file: skip all other setup
		return child.Main(args[1:], os.Stdin, stdout)
	}
	root := rootCommand(process.Process{Environ: environ, Version: process.Version(), In: os.Stdin, Out: stdout, Err: stderr})
	understood := false
	root.PersistentPreRun = func(*cobra.Command, []string) { understood = true }
	root.SetArgs(append([]string{}, args...)) // nil would select os.Args
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	if err == nil {
		return exit.CodeOK
	}
	if !understood {
		err = exit.Usage(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(explain(err)), "\n") {
		_, _ = fmt.Fprintf(stderr, "%s: %s\n", process.Program, display.Printable(line))
	}
	if errors.Is(err, exit.ErrUsage) {
		_, _ = fmt.Fprintf(stderr, "%q shows the usage\n", cmd.CommandPath()+" --help")
	}
	return exitCode(err)
}

// rootCommand returns the tree of all commands.
func rootCommand(p process.Process) *cobra.Command {
	root := &cobra.Command{
		Use:   process.Program,
		Short: "A research data repository",
		Long: `labshelf stores a lab's files in sets and dataspaces, controls who can access them,
and serves them over HTTP.

"labshelf serve" starts the service; all of its data are in one directory.`,
		Version:       p.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          suggest.NoSuchCommand,
		RunE:          func(*cobra.Command, []string) error { return exit.Usage(errors.New(firstSteps)) },
	}
	root.AddGroup(
		&cobra.Group{ID: group.Run, Title: "Run a service:"},
		&cobra.Group{ID: group.Use, Title: "Use a service:"},
		&cobra.Group{ID: group.People, Title: "Access control:"},
		&cobra.Group{ID: group.Care, Title: "Maintenance:"},
	)
	root.AddCommand(server.Commands(p)...)
	root.AddCommand(client.Commands(p)...)
	root.AddCommand(versionCommand(p))
	root.SetHelpCommand(helpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.Name() == "ls" && slices.ContainsFunc(args, humanReadable) {
			_, _ = fmt.Fprintln(cmd.OutOrStdout(), humanSizes)
			return
		}
		_, _ = io.WriteString(cmd.OutOrStdout(), helpText(cmd))
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if before := cmd.Flags().Args(); len(before) > 0 && cmd.HasSubCommands() {
			return suggest.NoSuchCommand(cmd, before) // the flag itself may be correct
		}
		var invalid *pflag.InvalidValueError
		if errors.As(err, &invalid) {
			return wrongValue(invalid)
		}
		var unknown *pflag.NotExistError
		if !errors.As(err, &unknown) {
			return err
		}
		if unknown.GetSpecifiedShortnames() != "" {
			if advice := suggest.Flag(cmd.Name(), unknown.GetSpecifiedName()); advice != "" {
				return fmt.Errorf("%w; %s", err, advice)
			}
			return err
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		return fmt.Errorf("%w%s", err, suggest.DidYouMean("--", unknown.GetSpecifiedName(), known))
	})
	return root
}

// humanReadable reports whether an argument is a group of short flags that contains h, such as -lh.
// In other programs -h requests sizes in units.
func humanReadable(arg string) bool {
	return len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg, "h")
}

const humanSizes = `Sizes are in units such as MiB unless --long (-l) is given; there is no flag -h for that.
"labshelf ls --help" shows all flags.`

// wrongValue returns an error that says what values a flag takes. Flags with string values have
// their own rules.
func wrongValue(invalid *pflag.InvalidValueError) error {
	rule := map[string]string{"int": "a whole number", "bool": "true or false", "duration": "a duration, such as 30s or 10m"}[invalid.GetFlag().Value.Type()]
	switch {
	case rule == "":
		return invalid
	case errors.Is(invalid, strconv.ErrRange):
		rule = "a smaller number"
	}
	return fmt.Errorf("--%s must be %s, not %q", invalid.GetFlag().Name, rule, invalid.GetValue())
}

// firstSteps is the response to the program's name without arguments.
const firstSteps = `give a command:
  labshelf serve           start a service on this machine
  labshelf login ADDRESS   sign in to a running service
  labshelf put DIR SET     upload a folder
  labshelf help            list all commands
  labshelf help start      share your first files in five minutes`
