package server

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"labshelf/bolt"
	"labshelf/cli/config"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/process"
)

func compactCommand(p process.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "compact --data DIR",
		Short: "Shrink the metadata file",
		Long: `compact writes a new metadata file without the space of removed records, checks
it, and replaces the old file. The service must be stopped, and the disk must
have space for both files. An interruption damages nothing.`,
		Args:        cobra.NoArgs,
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(cmd.Flags(), p.Environ)
			if err != nil {
				return err
			}
			if c.Metadata != "" {
				return exit.Usage(errors.New("the metadata are in a PostgreSQL database, which frees space automatically (VACUUM)"))
			}
			return process.UntilSignal(func(ctx context.Context) error { return compact(ctx, p, c.Data) })
		},
	}
	config.AddFlags(cmd.Flags(), "data")
	return cmd
}

func compact(ctx context.Context, p process.Process, path string) error {
	data, err := filepath.Abs(path)
	if err == nil {
		err = datadir.Stores{}.Require(data)
	}
	if err != nil {
		return err
	}
	before, after, err := bolt.Compact(ctx, filepath.Join(data, datadir.MetadataFile))
	if err != nil {
		return interrupted(ctx, datadir.Explain(data, err), "the metadata file is unchanged")
	}
	_, err = fmt.Fprintf(p.Out, "The metadata file had %s and now has %s.\n", display.Bytes(before), display.Bytes(after))
	return err
}
