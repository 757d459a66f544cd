package commands

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shell is one that can complete commands.
type shell struct {
	name   string
	script func(root *cobra.Command, out io.Writer) error
}

func shells() []shell {
	return []shell{
		{"bash", func(root *cobra.Command, out io.Writer) error { return root.GenBashCompletionV2(out, true) }},
		{"zsh", func(root *cobra.Command, out io.Writer) error { return root.GenZshCompletion(out) }},
		{"fish", func(root *cobra.Command, out io.Writer) error { return root.GenFishCompletion(out, true) }},
		{"powershell", func(root *cobra.Command, out io.Writer) error { return root.GenPowerShellCompletionWithDesc(out) }},
	}
}

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
		Example: `  bash (needs the package bash-completion), in ~/.bashrc:
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
