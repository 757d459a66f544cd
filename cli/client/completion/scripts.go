// Package completion lets shells complete commands, flags and names. It contains the scripts for
// each shell, the names that a service offers, and the responses for bash. It does not use cobra's
// scripts, since these evaluate the command line: names that other users chose would run as
// commands. These scripts need no package such as bash-completion, and complete names with spaces
// and quotes.
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

// powershellScript writes cobra's script without its variable: the variable would stay set in
// PowerShell, and the program rejects unknown ones.
func powershellScript(root *cobra.Command, out io.Writer) error {
	var text bytes.Buffer
	if err := root.GenPowerShellCompletionWithDesc(&text); err != nil {
		return err
	}
	_, err := out.Write(activeHelpLine.ReplaceAll(text.Bytes(), nil))
	return err
}

var activeHelpLine = regexp.MustCompile(`(?m)^.*(?:First disable ActiveHelp|_ACTIVE_HELP).*\n`)
