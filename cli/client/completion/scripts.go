// Package completion makes shells complete commands, flags and names: the scripts for each shell,
// the names that a service offers, and the answers for bash. The scripts are our own, since those
// of cobra evaluate the command line: names that other users chose would be run as commands. They
// need no package such as bash-completion, and complete names with spaces and quotes.
package completion

import (
	"bytes"
	"embed"
	"io"
	"regexp"

	"github.com/spf13/cobra"
)

//go:embed bash.sh zsh.sh fish.fish
var completionScripts embed.FS

// Shell is a shell that can complete commands.
type Shell struct {
	Name        string
	WriteScript func(root *cobra.Command, out io.Writer) error
}

// Shells returns the supported shells.
func Shells() []Shell {
	return []Shell{{"bash", ownScript("bash.sh")}, {"zsh", ownScript("zsh.sh")}, {"fish", ownScript("fish.fish")}, {"powershell", powershellScript}}
}

// ownScript writes a file of this folder.
func ownScript(file string) func(*cobra.Command, io.Writer) error {
	return func(_ *cobra.Command, out io.Writer) error {
		text, err := completionScripts.ReadFile(file)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
}

// powershellScript writes cobra's script without its variable: the program refuses unknown ones,
// and in PowerShell it would stay set.
func powershellScript(root *cobra.Command, out io.Writer) error {
	var text bytes.Buffer
	if err := root.GenPowerShellCompletionWithDesc(&text); err != nil {
		return err
	}
	_, err := out.Write(activeHelpLine.ReplaceAll(text.Bytes(), nil))
	return err
}

var activeHelpLine = regexp.MustCompile(`(?m)^.*(?:First disable ActiveHelp|_ACTIVE_HELP).*\n`)
