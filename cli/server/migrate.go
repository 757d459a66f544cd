package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"labshelf/backup"
	"labshelf/cli/config"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/process"
)

func migrateCommand(p process.Process) *cobra.Command {
	var (
		from, to string
		o        backup.MoveOptions
		asJSON   bool
	)
	cmd := &cobra.Command{
		Use:   "migrate --from A --to B",
		Short: "Move everything between a data directory, a PostgreSQL database and an S3 bucket",
		Long: `migrate moves the repository of the service A to the stores of the service B:
metadata from a file to a PostgreSQL database or back, files from folders to an
S3 or back. A and B are each a configuration file or a data directory. For a
data directory, the settings of its config.toml are used. Both services must be
stopped, on all nodes, and B must have no metadata yet.

The repository stays the same: users, keys, sessions, ids, page tokens, webhooks
and the audit log remain valid. Unless the files stay in the same store,
unfinished resumable uploads start again, and the trash is not moved. migrate
does not change A; do not start its service again.

Files are copied first, each compared with its SHA-256. Then the metadata are
written, read again and compared. After an interruption, run the same command
again: it copies no file twice. The service of B does not start until the move
is complete.`,
		Args:        cobra.NoArgs,
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(*cobra.Command, []string) error {
			if from == "" || to == "" {
				return exit.Usage(errors.New("--from and --to must each name a configuration file or a data directory"))
			}
			m := &migration{from: from, to: to, report: newReporter(p, asJSON)}
			if err := m.configure(p.Environ); err != nil {
				return err
			}
			return process.UntilSignal(func(ctx context.Context) error { return m.run(ctx, o) })
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&from, "from", "", "`CONFIG` of the service to move, or its data directory")
	cmd.Flags().StringVar(&to, "to", "", "`CONFIG` of the new service, or its data directory")
	cmd.Flags().BoolVar(&o.Rehash, "rehash", false, "also read the files that B already has, instead of comparing only their size")
	cmd.Flags().BoolVar(&o.Partial, "partial", false, "move even if files are damaged or missing in A")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// migration is one run of migrate.
type migration struct {
	from, to       string // as given in the flags
	old, fresh     config.Config
	oldAt, freshAt datadir.Stores
	report         *reporter
}

// configure reads both configurations.
func (m *migration) configure(environ []string) (err error) {
	if m.old, err = config.LoadFrom(m.from, environ); err != nil {
		return fmt.Errorf("--from %s: %w", m.from, err)
	}
	if m.fresh, err = config.LoadFrom(m.to, environ); err != nil {
		return fmt.Errorf("--to %s: %w", m.to, err)
	}
	if m.oldAt, err = datadir.Configured(m.old); err != nil {
		return fmt.Errorf("--from %s: %w", m.from, err)
	}
	if m.freshAt, err = datadir.Configured(m.fresh); err != nil {
		return fmt.Errorf("--to %s: %w", m.to, err)
	}
	if m.old.Metadata == m.fresh.Metadata && (m.old.Metadata != "" || m.old.Data == m.fresh.Data) {
		return exit.Usage(errors.New("--from and --to have their metadata in the same place: name another data directory, or another database, in --to"))
	}
	return nil
}

func (m *migration) run(ctx context.Context, o backup.MoveOptions) (err error) {
	defer m.report.close()
	from, err := datadir.OpenReadOnly(m.old.Data, m.oldAt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if err := from.RefuseNodes(ctx); err != nil {
		return err
	}
	to, err := datadir.OpenTarget(ctx, m.fresh.Data, m.freshAt, from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	o.Events = backup.Events{Progress: m.report.progress.set, Skipped: m.report.progress.skip, Violation: m.report.violation}
	moved, err := backup.Move(ctx, backup.Origin{Metadata: from.Metadata, Files: from.Blobs}, to.Destination(), o)
	if errors.Is(err, backup.ErrLost) {
		err = fmt.Errorf("%w; they are named above; restore them from a backup with \"labshelf repair\", or move without them: --partial", err)
	}
	if err != nil {
		return m.report.failed(ctx, err, "nothing was changed in "+m.from+"; run the same command again to resume")
	}
	aside, err := to.SetAside()
	if err != nil {
		return err
	}
	return m.report.end(m.text(moved, aside), moved)
}

// text describes what was moved, and the next step.
func (m *migration) text(moved backup.Moved, aside string) string {
	text := fmt.Sprintf("%s contains everything as of %s: %s, read again and compared; %s, %s; copied now: %s, %s.\n", m.to, moment(moved.Stamp),
		countText(moved.Rows, "row", "rows"), countText(moved.Files.Count, "file", "files"), display.Bytes(moved.Files.Bytes),
		countText(moved.Copied.Count, "file", "files"), display.Bytes(moved.Copied.Bytes))
	if moved.Lost > 0 {
		text += fmt.Sprintf("Not moved: %s, damaged or missing before.\n", countText(moved.Lost, "file", "files"))
	}
	if aside != "" {
		text += fmt.Sprintf("The old metadata are in %s; no service needs them.\n", aside)
	}
	return text + fmt.Sprintf("Start the service with: labshelf serve --%s %s\nDo not start the service of %s again.\n", config.SourceFlag(m.to), m.to, m.from)
}
