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
		Short: "Check the machine and the storage of the data",
		Long: `doctor examines whether data are safe in the data directory: whether its file
system keeps synced data, who can read and write it, how much space is free, and
known causes of data loss. Each result is ok, a warning or a problem, with
advice.

If the directory does not exist, doctor examines the folder in which it would be
created. The service may be running. doctor creates a folder .labshelf-doctor-*,
and removes it at the end. To check the content of the files, use "labshelf
check".

If the metadata are in PostgreSQL, doctor connects to the server and examines
its settings and its clock. If the files are in an S3 bucket, doctor puts,
reads, lists and deletes objects there, whose names begin with "doctor".`,
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each finding as a JSON object on its own line")
	return cmd
}

// writeFinding prints a finding for people.
func writeFinding(out io.Writer, f doctor.Finding) error {
	text := fmt.Sprintf("%-8s %-12s %s\n", f.Level, f.Check, f.Found)
	if f.Do != "" {
		text += fmt.Sprintf("%-21s → %s\n", "", f.Do)
	}
	_, err := io.WriteString(out, text)
	return err
}
