package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"labshelf/auth/errs"
	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/cli/connection"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/cli/suggest"
	"labshelf/client"
	"labshelf/metadata"
)

// ErrDamageFound is the error of a command that has finished and has found damage.
var ErrDamageFound = errors.New("damage was found")

func backupCommand(p process.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Create, list, restore and verify backups",
		Long: `A backup is a folder with a copy of everything that the service stores: users
and their keys, dataspaces, sets, records and files. It contains snapshots of
several moments, which share their files. Each snapshot can be restored. The
configuration file is not part of a backup. Copying the data directory with
other tools while the service runs is not a backup: the copied files may not
belong to the same moment.`,
		Args: suggest.NoSuchCommand,
		RunE: suggest.WantSubcommand,
	}
	cmd.AddCommand(backupCreateCommand(p), backupListCommand(p), backupRestoreCommand(p), backupVerifyCommand(p))
	return cmd
}

func backupCreateCommand(p process.Process) *cobra.Command {
	var (
		o      backup.CreateOptions
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "create DEST",
		Short: "Create a backup in a folder, or add a snapshot to an existing one",
		Long: `create copies the state of the service at one moment to the folder DEST. The
service keeps running, and people can change data during the backup. If DEST
contains a backup, create adds a snapshot to it and copies only the missing
files. It keeps the number of snapshots in --keep, and the last snapshot before
each restoration. It removes older snapshots after the new one is complete, but
no files. After an interruption, run the same command again.

A damaged or missing file is reported and left out; all others are copied.

The latest snapshot in DEST must be an earlier state of the same repository.
Otherwise the command stops and changes nothing: perhaps DEST belongs to another
repository, or the repository was put back to an older state, and DEST contains
later changes. If you know the reason, continue with the --allow flag for it,
once.

` + placeHelp,
		Args:        cobra.ExactArgs(1),
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := placeOf(cmd.Flags(), p)
			if err != nil {
				return err
			}
			if o.Keep < 1 {
				return exit.Usage(errors.New("--keep must be 1 or more"))
			}
			report := newReporter(p, asJSON)
			return process.UntilSignal(func(ctx context.Context) error { return createBackup(ctx, at, args[0], o, report) })
		},
	}
	addPlaceFlags(cmd.Flags())
	cmd.Flags().IntVar(&o.Keep, "keep", backup.DefaultKeep, "`NUMBER` of snapshots to keep")
	cmd.Flags().BoolVar(&o.Rehash, "rehash", false, "also read the files that DEST already has, instead of comparing only their size")
	addAllowFlags(cmd.Flags(), &o.Allow)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func createBackup(ctx context.Context, at place, dest string, o backup.CreateOptions, report *reporter) (err error) {
	defer report.close()
	var source backup.Source = remoteSource{at.remote}
	if at.data == "" {
		defer at.remote.Close()
	} else {
		data, failed := datadir.OpenReadOnly(at.data, at.stores)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, data.Close()) }()
		source = backup.Local{Metadata: data.Metadata, Files: data.Blobs}
	}
	o.Program = "labshelf " + process.Version()
	o.Events = backup.Events{Progress: report.progress.set, Skipped: report.progress.skip, Violation: report.violation}
	made, err := backup.Create(ctx, source, dest, o)
	if err != nil {
		if at.remote != nil {
			err = connection.NameVersions(ctx, at.remote, process.Version(), err)
		}
		state := "no new backup was created, and " + dest + " is unchanged; run the command again to resume"
		if errors.Is(err, backup.ErrSource) || errors.Is(err, client.ErrIncomplete) {
			err = fmt.Errorf("%w\n%s", err, state)
		}
		return report.failed(ctx, allowing(err), state)
	}
	m := made.Manifest
	text := fmt.Sprintf("%s contains a backup as of %s: %s, %s; copied now: %s, %s.\n", dest, moment(m.Stamp),
		countText(m.Blobs.Count, "file", "files"), display.Bytes(m.Blobs.Bytes), countText(made.Copied.Count, "file", "files"), display.Bytes(made.Copied.Bytes))
	text += roomText(made.Room)
	if err := report.end(text, made); err != nil {
		return err
	}
	var damage error
	if report.metadata {
		damage = fmt.Errorf("%w: the metadata are damaged, and so is this backup of them; keep older backups", ErrDamageFound)
	}
	if n := int64(len(m.Damaged)); n > 0 {
		damage = errors.Join(damage, fmt.Errorf("%w: %s damaged or missing in the repository, and not in the backup; all other files are in the backup; "+
			"an older backup may contain the lost files: labshelf repair --from OLDER --data DIR", ErrDamageFound, countText(n, "file is", "files are")))
	}
	return damage
}

// remoteSource reads the content of a backup from a running service.
type remoteSource struct{ service *client.Client }

var _ backup.Source = remoteSource{}

// Snapshot implements backup.Source.
func (s remoteSource) Snapshot(ctx context.Context) (backup.Snapshot, error) {
	body, stamp, err := s.service.Maintenance.Snapshot(ctx)
	if err != nil {
		return backup.Snapshot{}, err
	}
	return backup.Snapshot{ReadCloser: body, Stamp: metadata.Stamp(stamp), Bytes: body.Bytes}, nil
}

// Blob implements backup.Source. A blob is lost only if the service reports it. A truncated
// response may be a network error. If the blob is damaged, the service records that before it ends
// the response, and reports it at the next request.
func (s remoteSource) Blob(ctx context.Context, b blobs.Blob) (io.ReadCloser, error) {
	body, err := s.service.Maintenance.Blob(ctx, b.Digest)
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Status == http.StatusInternalServerError && problem.Code == errs.CodeDataDamaged {
		return nil, fmt.Errorf("%w: %w", blobs.ErrDamaged, err)
	}
	if problem != nil && problem.Status == http.StatusNotFound && problem.Code == errs.CodeBlobNotFound {
		return nil, fmt.Errorf("%w: %w", blobs.ErrNotFound, err)
	}
	if err != nil {
		return nil, err
	}
	if body.Bytes != b.Size {
		return nil, errors.Join(fmt.Errorf("the service has %d bytes of the file, not %d", body.Bytes, b.Size), body.Close())
	}
	return body, nil
}

func backupRestoreCommand(p process.Process) *cobra.Command {
	var (
		data, which     string
		partial, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "restore SRC --data DIR",
		Short: "Create a data directory from a backup",
		Long: `restore creates the data directory DIR from the latest snapshot in the folder
SRC, or from the snapshot that --at selects, and then checks all of it. DIR must
be empty or missing. An incomplete or damaged backup is rejected, with the
reason. If restore is interrupted, no service starts on DIR, and you can delete
it.`,
		Args:        cobra.ExactArgs(1),
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(_ *cobra.Command, args []string) error {
			if data == "" {
				return exit.Usage(errors.New("--data must name the data directory to create"))
			}
			report := newReporter(p, asJSON)
			o, err := report.restoreOptions(which, partial)
			if err != nil {
				return err
			}
			return process.UntilSignal(func(ctx context.Context) error {
				defer report.close()
				done, err := backup.Restore(ctx, args[0], data, o)
				if err = listing(err, args[0]); err != nil {
					return report.failed(ctx, err, "the backup was not restored")
				}
				return report.restored(done, fmt.Sprintf("%s contains everything as of %s: %%s.\nStart the service with: labshelf serve --data %s\n",
					data, moment(done.Manifest.Stamp), data))
			})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&data, "data", "", "data directory `DIR` to create; it must be empty or missing")
	addAtFlag(cmd, &which)
	cmd.Flags().BoolVar(&partial, "partial", false, "restore the rest if files of the backup are missing or damaged")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func backupVerifyCommand(p process.Process) *cobra.Command {
	var (
		temp, which string
		asJSON      bool
	)
	cmd := &cobra.Command{
		Use:   "verify DEST",
		Short: "Check whether a backup can be restored",
		Long: `verify restores the latest snapshot in the folder DEST to a temporary folder,
checks and compares all of it, and deletes it again. It requires free space for
the whole snapshot. Then it reads the files in DEST that only earlier snapshots
need. With --at it verifies only one snapshot.`,
		Args:        cobra.ExactArgs(1),
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(_ *cobra.Command, args []string) error {
			report := newReporter(p, asJSON)
			o, err := report.restoreOptions(which, false)
			if err != nil {
				return err
			}
			return process.UntilSignal(func(ctx context.Context) error {
				defer report.close()
				done, err := backup.Verify(ctx, args[0], temp, o)
				if err = listing(err, args[0]); err != nil {
					return report.failed(ctx, err, "the backup was not verified; use --temp to create the temporary copy in another folder")
				}
				return report.restored(done, fmt.Sprintf("The backup as of %s in %s can be restored: %%s.\n%s", moment(done.Manifest.Stamp), args[0], earlierText(done.Earlier)))
			})
		},
	}
	cmd.Flags().SortFlags = false
	addAtFlag(cmd, &which)
	cmd.Flags().StringVar(&temp, "temp", "", "`DIR` for the temporary copy (default: the system's folder for temporary files)")
	addJSONFlag(cmd, &asJSON)
	return cmd
}
