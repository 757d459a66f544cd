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
		Short: "Restore damaged or missing files from a backup",
		Long: `repair reads every file in the data directory DIR, and replaces damaged or
missing ones with copies from the backup. The service must be stopped. Records,
users and keys do not change. Damaged metadata are not repaired: restore a
backup.`,
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
				return exit.Usage(errors.New("repair works on a data directory that contains its metadata and its files; in a cluster, upload the damaged file " +
					"again, which replaces the damaged object, or move everything to a data directory with \"labshelf migrate --partial\", and repair that"))
			}
			report := newReporter(p, asJSON)
			return process.UntilSignal(func(ctx context.Context) error { return repair(ctx, data, from, report) })
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&from, "from", "", "`BACKUP` from which files are copied")
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
		return fmt.Errorf("%w; repair restores files, not metadata: restore a backup to another directory with "+
			`"labshelf backup restore BACKUP --data DIR"`, err)
	}
	if err != nil {
		return report.failed(ctx, datadir.Explain(data, err), "the files repaired so far stay repaired; run the command again to resume")
	}
	text := fmt.Sprintf("files read: %d; damaged or missing, and repaired: %d; still damaged or missing: %d\n", done.Blobs, done.Repaired, done.Left)
	if err := report.end(text, done); err != nil {
		return err
	}
	if done.Left > 0 {
		return fmt.Errorf("%w: the backup %s does not contain the rest; try an older one", ErrDamageFound, from)
	}
	return nil
}

// wantFiles returns an error unless the folder looks like a backup. The backup may be incomplete.
func wantFiles(from string) error {
	if info, err := os.Stat(filepath.Join(from, "blobs")); err != nil || !info.IsDir() {
		return exit.Usage(fmt.Errorf("%s is not a backup, since it contains no readable folder blobs; name one with --from", from))
	}
	return nil
}
