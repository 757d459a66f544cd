package server

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"labshelf/cli/config"
	"labshelf/cli/datadir"
	"labshelf/cli/process"
	"labshelf/cli/server/doctor"
)

func doctorCommand(p process.Process) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "doctor [--data DIR]",
		Short: "Examine the machine and the places where the data are or are to be",
		Long: `doctor finds out whether data are safe in the data directory: whether its file
system keeps what was synced, who can read and write it, how much room there is,
and what is known to lose data. Each result is ok, a warning, or a problem, with
what to do about it.

The directory need not exist yet: then the place where it would be is examined.
The service may be running. For a while there is a folder .labshelf-doctor-*,
which is removed again. What is in the files is for "labshelf check".

Where the metadata are in a PostgreSQL, it connects to that and looks at its
settings and its clock; where the files are in an S3, it puts, reads, lists and
deletes objects there, whose names begin with "doctor".`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(cmd.Flags(), p.Environ)
			if err != nil {
				return err
			}
			write := writeFinding
			if asJSON {
				write = writeJSON[doctor.Finding]
			}
			at, err := datadir.Configured(c)
			if err != nil {
				return err
			}
			return process.UntilSignal(func(ctx context.Context) error {
				return doctor.Examine(ctx, c.Data, at, func(f doctor.Finding) error { return write(p.Out, f) })
			})
		},
	}
	config.AddFlags(cmd.Flags(), "data")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each finding as a JSON object on a line of its own")
	return cmd
}

// writeFinding is for people.
func writeFinding(out io.Writer, f doctor.Finding) error {
	text := fmt.Sprintf("%-8s %-12s %s\n", f.Level, f.Check, f.Found)
	if f.Do != "" {
		text += fmt.Sprintf("%-21s → %s\n", "", f.Do)
	}
	_, err := io.WriteString(out, text)
	return err
}
