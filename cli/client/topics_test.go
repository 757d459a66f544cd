package client

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
)

// TestDocumented: docs/reference/commands.md contains every command and topic, and
// docs/how-to/instrument-pc.md has the same recipe for instruments as the help.
func TestDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/reference/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	root := newRoot(command.Process{})
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		use := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		want := "`" + use
		if cmd.RunE == nil {
			want = "help " + use
		}
		if !cmd.Hidden && !cmd.HasSubCommands() && !strings.Contains(page, want) {
			t.Errorf("no %s in docs/reference/commands.md", want)
		}
	}
	for _, cmd := range root.Commands() {
		walk(cmd)
	}
	recipe, err := topicTexts.ReadFile("topics/instrument.txt")
	if err != nil {
		t.Fatal(err)
	}
	instruments, err := os.ReadFile("../../docs/how-to/instrument-pc.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.SplitSeq(string(recipe), "\n") {
		code, indented := strings.CutPrefix(line, "  ")
		if !indented || strings.HasPrefix(line, "   ") && !strings.HasPrefix(line, "    ") { // text of a numbered step
			continue
		}
		lines++
		if !strings.Contains(string(instruments), strings.TrimSpace(code)+"\n") {
			t.Errorf("docs/how-to/instrument-pc.md does not contain this line of the recipe: %s", code)
		}
	}
	if lines < 30 {
		t.Errorf("the recipe has %d lines of code", lines)
	}
}
