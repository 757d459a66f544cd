package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"labshelf/cli/process"
)

func versionCommand(p process.Process) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.Out, "labshelf %s %s %s/%s\n", p.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
