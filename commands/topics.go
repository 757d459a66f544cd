package commands

import (
	"embed"
	"fmt"

	"github.com/spf13/cobra"
)

//go:embed topics/*.txt
var topicTexts embed.FS

// topics are the help topics that are not commands: each a text of 80 columns in topics/.
func topics() (list []*cobra.Command) {
	for _, t := range []struct{ name, alias, short string }{
		{"start", "starting", "From nothing to sharing files in five minutes"},
		{"references", "reference", "How dataspaces, sets, resources and users are named"},
		{"instrument", "instruments", "Send the files of an instrument by themselves, day after day"},
		{"scripts", "script", "JSON, exit codes and the environment, for programs"},
	} {
		text, err := topicTexts.ReadFile(fmt.Sprintf("topics/%s.txt", t.name))
		if err != nil {
			panic(err) // the file is embedded
		}
		list = append(list, &cobra.Command{Use: t.name, Aliases: []string{t.alias}, Short: t.short, Long: string(text)})
	}
	return list
}
