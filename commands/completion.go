package commands

import (
	"bytes"
	"embed"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed completion
var completionScripts embed.FS

// shell is one that can complete commands.
type shell struct {
	name   string
	script func(root *cobra.Command, out io.Writer) error
}

func shells() []shell {
	return []shell{{"bash", ownScript("bash.sh")}, {"zsh", ownScript("zsh.sh")}, {"fish", ownScript("fish.fish")}, {"powershell", powershellScript}}
}

// ownScript writes a file below completion/. Those of cobra evaluate the line again, with the names in it that others chose.
func ownScript(file string) func(*cobra.Command, io.Writer) error {
	return func(_ *cobra.Command, out io.Writer) error {
		text, err := completionScripts.ReadFile("completion/" + file)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
}

// powershellScript is cobra's, but sets no variable: the program refuses those that it does not know, and in PowerShell this one
// would stay for good.
func powershellScript(root *cobra.Command, out io.Writer) error {
	var text bytes.Buffer
	if err := root.GenPowerShellCompletionWithDesc(&text); err != nil {
		return err
	}
	_, err := out.Write(activeHelpLine.ReplaceAll(text.Bytes(), nil))
	return err
}

var activeHelpLine = regexp.MustCompile(`(?m)^.*(?:First disable ActiveHelp|_ACTIVE_HELP).*\n`)

func completionCommand(p Process) *cobra.Command {
	var names []string
	for _, s := range shells() {
		names = append(names, s.name)
	}
	return &cobra.Command{
		Use:   "completion bash | zsh | fish | powershell",
		Short: "Let your shell complete commands, and the names of what is there",
		Long: `completion writes a script that lets a shell complete commands and flags, and,
with the service that you are signed in to, the names of dataspaces, sets, users
and resources. Where nobody is signed in, or no answer comes within two seconds,
it offers none of those.`,
		Example: `  bash, in ~/.bashrc:
    source <(labshelf completion bash)
  zsh, in ~/.zshrc, after compinit:
    source <(labshelf completion zsh)
  fish, once:
    labshelf completion fish > ~/.config/fish/completions/labshelf.fish
  PowerShell, in the file that $PROFILE names:
    labshelf completion powershell | Out-String | Invoke-Expression`,
		Args:      exactly(1, "the name of one shell: "+strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, strings.ToLower(args[0]))
			if i < 0 {
				return usagef("there is no completion for %q: the shells are %s", args[0], strings.Join(names, ", "))
			}
			return shells()[i].script(cmd.Root(), p.Out)
		},
	}
}
