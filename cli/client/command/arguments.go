package command

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/cli/exit"
	"labshelf/client"
)

// arguments formats a number of arguments.
func arguments(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// Exactly returns the rule for a command with n arguments, described by what.
func Exactly(n int, what string) cobra.PositionalArgs { return Between(n, n, what) }

// AtLeast returns the rule for a command with n arguments or more, described by what.
func AtLeast(n int, what string) cobra.PositionalArgs { return Between(n, math.MaxInt, what) }

// AtMost returns the rule for a command with up to n arguments, described by what.
func AtMost(n int, what string) cobra.PositionalArgs { return Between(0, n, "at most "+what) }

// Between returns the rule for a command with least to most arguments, described by what.
func Between(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("want %s; got %s", what, arguments(len(args)))
		}
		return nil
	}
}

// Given returns the value of a flag, or nil if the flag is not set.
func Given[T any](flags *pflag.FlagSet, name string, value *T) *T {
	if !flags.Changed(name) {
		return nil
	}
	return value
}

// WantOne rejects a command without any of these flags, since it would change nothing.
func WantOne(flags *pflag.FlagSet, names ...string) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error {
		for _, name := range names {
			if flags.Changed(name) {
				return nil
			}
		}
		return exit.Usagef("nothing to change: give --%s", strings.Join(names, " or --"))
	}
}

// selecting are the flags that select the objects of a command. Without them a command may apply to
// everything.
var selecting = []string{"user", "dataspace", "object", "action", "state", "since", "until", "after", "to", "under"}

// wantValues rejects flags with an empty value, such as --user "$USER_TO_SHOW" if that variable is
// not set.
func wantValues(flags *pflag.FlagSet) error {
	for _, name := range selecting {
		if f := flags.Lookup(name); f != nil && f.Changed && f.Value.Type() == "string" && strings.TrimSpace(f.Value.String()) == "" {
			return exit.Usagef("--%s is empty: give a value, or omit the flag", name)
		}
	}
	return nil
}

// mostParallel bounds the files in parallel: a service is not faster with more.
const mostParallel = 16

// The defaults of --parallel. Small files that are sent at the same time share a
// sync of the disk; fetching does not benefit from more files in parallel.
const (
	SendAtOnce  = 8
	FetchAtOnce = 4
)

// ParallelFlag defines --parallel, and makes the command reject values out of bounds.
func ParallelFlag(cmd *cobra.Command, parallel *int, verb string, usual int) {
	cmd.Flags().IntVar(parallel, "parallel", usual, fmt.Sprintf("%s `N` files at a time, up to %d", verb, mostParallel))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *parallel < 1 || *parallel > mostParallel {
			return exit.Usagef("--parallel must be 1 to %d, not %d", mostParallel, *parallel)
		}
		return nil
	}
}

// JSONFlag defines --json.
func JSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON, for programs")
}

// Roles are the roles in a dataspace, in ascending order.
func Roles() []string { return []string{client.Member, client.Editor, client.Admin} }

// Help texts of flags that several commands have.
const (
	TitleHelp       = "`TEXT` of up to 500 characters, for people"
	DescriptionHelp = "`TEXT` of up to 16 KiB"
	VisibilityHelp  = "`READERS` of the dataspace: private (users with a role in it), public (all users) or open (everybody, without a key)"
	OriginHelp      = "`TEXT` of up to 500 characters, the source of the dataspace"
)
