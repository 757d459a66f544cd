package client

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
)

// TestEveryCommandHasHelp: every command has a help text that fits a terminal, and JSON output for
// programs.
func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	// their output is the bytes of files, a script, or always JSON
	withoutJSON := map[string]bool{"cat": true, "completion": true, "export": true}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden { // hidden from people; only our scripts call it
			return
		}
		if cmd.Annotations[pageKey] != "" {
			return // a page is wider than a terminal
		}
		topic := !cmd.HasSubCommands() && cmd.RunE == nil
		if cmd.Short == "" || !cmd.HasSubCommands() && cmd.Long == "" {
			t.Errorf("%s: the help is missing", cmd.CommandPath())
		}
		for line := range strings.SplitSeq(cmd.Long+"\n"+cmd.Example+"\n  "+cmd.UseLine(), "\n") {
			if uniseg.StringWidth(line) > 80 {
				t.Errorf("%s: wider than a terminal: %s", cmd.CommandPath(), line)
			}
		}
		if !topic && !cmd.HasSubCommands() && (cmd.Flags().Lookup("json") == nil) != withoutJSON[cmd.Name()] {
			t.Errorf("%s: --json", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	root := newRoot(command.Process{})
	for _, cmd := range root.Commands() {
		walk(cmd)
	}
}
