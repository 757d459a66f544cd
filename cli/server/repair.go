package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"labshelf/backup"
	"labshelf/bolt"
	"labshelf/cli/datadir"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/metadata"
)

func repairCommand(p process.Process) *cobra.Command {
	var (
		from, data string
		asJSON     bool
	)
	cmd := &cobra.Command{
		Use:   "repair --from BACKUP --data DIR",
		Short: "Bring back damaged or missing files from a backup",
		Long: `repair reads every file in the data directory DIR and takes those that are
damaged or missing from the backup. The service must be stopped. Records, users
and keys stay as they are. Damaged metadata are not repaired: restore a backup.`,
		Args:        cobra.NoArgs,
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(*cobra.Command, []string) error {
			if from == "" || data == "" {
				return exit.Usage(errors.New("--from must name a backup and --data the data directory to repair"))
			}
			at, err := datadir.ConfiguredIn(data, p.Environ)
			if err != nil {
				return err
			}
			if at.Metadata != "" || at.Blobs != "" {
				return exit.Usage(errors.New("repair works on a data directory that has its metadata and its files in it; of a cluster, upload what is damaged " +
					"again, which takes the place of the damaged object, or bring everything to a data directory with \"labshelf migrate --partial\", and repair that"))
			}
			report := newReporter(p, asJSON)
			return process.UntilSignal(func(ctx context.Context) error { return repair(ctx, data, from, report) })
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&from, "from", "", "`BACKUP` to take the files from")
	cmd.Flags().StringVar(&data, "data", "", "`DIR` to repair; the service must be stopped")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func repair(ctx context.Context, data, from string, report *reporter) error {
	defer report.close()
	if err := errors.Join(datadir.Stores{}.Require(data), wantFiles(from)); err != nil {
		return err
	}
	done, err := backup.Repair(ctx, data, from, backup.RepairEvents{
		Progress: report.progress.set,
		Left:     report.violation,
		Repaired: func(v metadata.Violation) {
			if !report.asJSON {
				report.progress.say(report.Out, fmt.Sprintf("repaired: %s %s %q (%s)\n", v.Kind, v.ID, v.Name, v.Wrong))
			}
		},
	})
	if errors.Is(err, bolt.ErrDamaged) || errors.Is(err, metadata.ErrRecordDamaged) {
		return fmt.Errorf("%w; repair brings back files, not metadata: restore a backup to another directory with "+
			`"labshelf backup restore BACKUP --data DIR"`, err)
	}
	if err != nil {
		return report.failed(ctx, datadir.Explain(data, err), "what was repaired so far stays so; run the command again to go on")
	}
	text := fmt.Sprintf("files read: %d; damaged or missing, and repaired: %d; still damaged or missing: %d\n", done.Blobs, done.Repaired, done.Left)
	if err := report.end(text, done); err != nil {
		return err
	}
	if done.Left > 0 {
		return fmt.Errorf("%w: the backup %s does not have the rest; try an older one", ErrDamageFound, from)
	}
	return nil
}

// wantFiles returns an error unless the folder could be a backup. It need not be complete.
func wantFiles(from string) error {
	if info, err := os.Stat(filepath.Join(from, "blobs")); err != nil || !info.IsDir() {
		return exit.Usage(fmt.Errorf("%s is no backup: there is no folder blobs in it that can be read; name one with --from", from))
	}
	return nil
}
