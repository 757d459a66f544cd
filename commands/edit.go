package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// done says what was made or changed: in words, or as the record that there is now.
func (p Process) done(record any, asJSON bool, format string, args ...any) error {
	if asJSON {
		return p.writeJSON(record)
	}
	_, err := fmt.Fprintf(p.Out, format, args...)
	return err
}

// page is the address of the page of a record, which is that of the record without the version of the interface.
func page(url string) string {
	a, _ := parseAddress(url)
	return printable(a.root + "/" + a.kind + "/" + a.id)
}

// given is the value of a flag, or nil where it was left out and the old one is to stay.
func given[T any](flags *pflag.FlagSet, name string, value *T) *T {
	if !flags.Changed(name) {
		return nil
	}
	return value
}

// wantOne refuses a command with none of these flags, since it would change nothing.
func wantOne(flags *pflag.FlagSet, names ...string) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error {
		for _, name := range names {
			if flags.Changed(name) {
				return nil
			}
		}
		return usagef("nothing is to be changed: give --%s", strings.Join(names, " or --"))
	}
}

// atLeast is the rule for a command with n arguments or more, which what describes.
func atLeast(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return fmt.Errorf("want %s; got %s", what, arguments(len(args)))
		}
		return nil
	}
}
