package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/client"
	"labshelf/commands"
	"labshelf/errs"
	"labshelf/metadata"
)

// errDamageFound ends a command that came to its end and has found damage.
var errDamageFound = errors.New("damage was found")

func backupCommand(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Make, list, restore and verify backups",
		Long: `A backup is a folder with a copy of everything that the service keeps: users
and their keys, dataspaces, sets, records and files. It keeps snapshots of
several moments, each of which can be restored; they share their files. It does
not hold the configuration file. Copying the data directory with other tools
while the service runs gives no backup: what they copy may not fit together.`,
		Args: noSuchCommand,
		RunE: wantSubcommand,
	}
	cmd.AddCommand(backupCreateCommand(p), backupListCommand(p), backupRestoreCommand(p), backupVerifyCommand(p))
	return cmd
}

func backupCreateCommand(p process) *cobra.Command {
	var (
		o      backup.CreateOptions
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "create DEST",
		Short: "Make a backup in a folder, or add a snapshot to the one there",
		Long: `create copies everything into the folder DEST, as it was at one moment, while
the service goes on and people write. If DEST holds a backup already, this adds
a snapshot to it, and copies only files that it has not got yet. The last
snapshots stay, as many as --keep says, and the last one from before each
restoration; older ones are removed once the new one is complete, and no file
is. After an interruption, run the same command again.

A file that is damaged or missing is named and left out; all others are copied.

The latest snapshot in DEST must be an earlier state of the same repository:
else this stops, and changes nothing. It may be one of another repository; or
the repository was put back to an older state, and DEST holds what that has
undone. If you mean it, name the reason with an --allow flag, once.

` + placeHelp,
		Args:        cobra.ExactArgs(1),
		Annotations: exits(exitLocked, exitDamaged, exitInterrupted),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := placeOf(cmd.Flags(), p.environ)
			if err != nil {
				return err
			}
			if o.Keep < 1 {
				return usageError{errors.New("--keep must be 1 or more")}
			}
			tell := newTeller(p, asJSON)
			return untilSignal(func(ctx context.Context) error { return createBackup(ctx, at, args[0], o, tell) })
		},
	}
	addPlaceFlags(cmd.Flags())
	cmd.Flags().IntVar(&o.Keep, "keep", backup.DefaultKeep, "`NUMBER` of snapshots to keep")
	cmd.Flags().BoolVar(&o.Rehash, "rehash", false, "read the files that DEST has already, instead of trusting their size")
	addAllowFlags(cmd.Flags(), &o.Allow)
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func createBackup(ctx context.Context, at place, dest string, o backup.CreateOptions, tell *teller) (err error) {
	defer tell.close()
	var source backup.Source = remoteSource{at.remote}
	if at.data == "" {
		defer at.remote.Close()
	} else {
		if err := wantMetadata(at.data); err != nil {
			return err
		}
		local, err := backup.OpenLocal(at.data)
		if err != nil {
			return remedy(at.data, err)
		}
		defer func() { err = errors.Join(err, local.Close()) }()
		source = local
	}
	o.Program = program + " " + version()
	o.Events = backup.Events{Progress: tell.progress.set, Skipped: tell.progress.skip, Violation: tell.violation}
	made, err := backup.Create(ctx, source, dest, o)
	if err != nil {
		if at.remote != nil {
			err = commands.NameVersions(ctx, at.remote, version(), err)
		}
		state := "no new backup was made; what " + dest + " held before is as it was; run the command again to go on"
		if errors.Is(err, backup.ErrSource) || errors.Is(err, client.ErrIncomplete) {
			err = fmt.Errorf("%w\n%s", err, state)
		}
		return tell.failed(ctx, allowing(err), state)
	}
	m := made.Manifest
	text := fmt.Sprintf("%s holds a backup as of %s: %s, %s; copied now: %s, %s.\n", dest, moment(m.Stamp),
		countText(m.Blobs.Count, "file", "files"), commands.FormatBytes(m.Blobs.Bytes), countText(made.Copied.Count, "file", "files"), commands.FormatBytes(made.Copied.Bytes))
	text += roomText(made.Room)
	if err := tell.end(text, made); err != nil {
		return err
	}
	var damage error
	if tell.metadata {
		damage = fmt.Errorf("%w: the metadata are damaged, and so is this backup of them; keep older backups", errDamageFound)
	}
	if n := int64(len(m.Damaged)); n > 0 {
		damage = errors.Join(damage, fmt.Errorf("%w: %s damaged or missing where the backup comes from, and not in it; all other files are; "+
			"an older backup may hold what is lost: %s repair --from OLDER --data DIR", errDamageFound, countText(n, "file is", "files are"), program))
	}
	return damage
}

// remoteSource makes backups over the interface.
type remoteSource struct{ service *client.Client }

var _ backup.Source = remoteSource{}

// Snapshot implements backup.Source.
func (s remoteSource) Snapshot(ctx context.Context) (backup.Snapshot, error) {
	body, stamp, err := s.service.Snapshot(ctx)
	if err != nil {
		return backup.Snapshot{}, err
	}
	return backup.Snapshot{ReadCloser: body, Stamp: stamp, Bytes: body.Bytes}, nil
}

// Blob implements backup.Source. Only what the service says of a blob makes it lost. An answer that breaks off may be the fault of
// the line; where it is that of the blob, the service has looked at it before it ended the answer, and says so when asked again.
func (s remoteSource) Blob(ctx context.Context, digest blobs.Digest, size int64) (io.ReadCloser, error) {
	body, err := s.service.Blob(ctx, digest)
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Status == http.StatusInternalServerError && problem.Code == errs.CodeDataDamaged {
		return nil, fmt.Errorf("%w: %w", blobs.ErrDamaged, err)
	}
	if err != nil {
		return nil, err
	}
	if body.Bytes != size {
		return nil, errors.Join(fmt.Errorf("the service has %d bytes of it, not %d", body.Bytes, size), body.Close())
	}
	return body, nil
}

func backupRestoreCommand(p process) *cobra.Command {
	var (
		data, which     string
		partial, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "restore SRC --data DIR",
		Short: "Make a data directory of a backup",
		Long: `restore makes the data directory DIR of the latest snapshot in the folder SRC, or
of the one that --at selects, and then checks all of it. DIR must be empty, or not be there yet. An incomplete or
damaged backup is refused, and the reason told. If restore does not come to
its end, no service starts on DIR, and it can be deleted.`,
		Args:        cobra.ExactArgs(1),
		Annotations: exits(exitLocked, exitDamaged, exitInterrupted),
		RunE: func(_ *cobra.Command, args []string) error {
			if data == "" {
				return usageError{errors.New("--data must name the data directory to make")}
			}
			tell := newTeller(p, asJSON)
			o, err := tell.restoreOptions(which, partial)
			if err != nil {
				return err
			}
			return untilSignal(func(ctx context.Context) error {
				defer tell.close()
				done, err := backup.Restore(ctx, args[0], data, o)
				if err = listing(err, args[0]); err != nil {
					return tell.failed(ctx, err, "the backup was not restored")
				}
				return tell.restored(done, fmt.Sprintf("%s holds everything as of %s: %%s.\nStart the service with: %s serve --data %s\n",
					data, moment(done.Manifest.Stamp), program, data))
			})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&data, "data", "", "`DIR` to make, empty or not there yet")
	addAtFlag(cmd, &which)
	cmd.Flags().BoolVar(&partial, "partial", false, "restore what there is, also if files of the backup are missing or damaged")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func backupVerifyCommand(p process) *cobra.Command {
	var (
		temp, which string
		asJSON      bool
	)
	cmd := &cobra.Command{
		Use:   "verify DEST",
		Short: "Find out whether a backup can be restored",
		Long: `verify restores the latest snapshot in the folder DEST to a temporary folder,
checks all of it, compares, and deletes it again. It needs room for the whole
snapshot. Then it reads, in DEST, what the earlier snapshots need beyond that.
With --at it looks at one snapshot alone.`,
		Args:        cobra.ExactArgs(1),
		Annotations: exits(exitLocked, exitDamaged, exitInterrupted),
		RunE: func(_ *cobra.Command, args []string) error {
			tell := newTeller(p, asJSON)
			o, err := tell.restoreOptions(which, false)
			if err != nil {
				return err
			}
			return untilSignal(func(ctx context.Context) error {
				defer tell.close()
				done, err := backup.Verify(ctx, args[0], temp, o)
				if err = listing(err, args[0]); err != nil {
					return tell.failed(ctx, err, "the backup was not verified; --temp names another folder for it")
				}
				return tell.restored(done, fmt.Sprintf("The backup as of %s in %s can be restored: %%s.\n%s", moment(done.Manifest.Stamp), args[0], earlierText(done.Earlier)))
			})
		},
	}
	cmd.Flags().SortFlags = false
	addAtFlag(cmd, &which)
	cmd.Flags().StringVar(&temp, "temp", "", "`DIR` to restore below (default: that of the system for temporary files)")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// teller is how long commands speak.
type teller struct {
	process
	asJSON     bool
	progress   *progress
	violations []violationFields // with asJSON: all; else none
	metadata   bool              // something was wrong with them
}

func newTeller(p process, asJSON bool) *teller {
	return &teller{process: p, asJSON: asJSON, progress: newProgress(p.stderr), violations: []violationFields{}}
}

func addJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print the result as JSON")
}

func (t *teller) close() { t.progress.close() }

// violation tells of one at once, or keeps it for the end.
func (t *teller) violation(v metadata.Violation) {
	t.metadata = t.metadata || v.Part != metadata.PartBlobs && v.Part != metadata.PartFiles
	if t.asJSON {
		t.violations = append(t.violations, violationFields(v))
		return
	}
	t.progress.say(t.stdout, v.String()+"\n")
}

// end tells what came of the command: a text, or the fields of result and the violations.
func (t *teller) end(text string, result any) error {
	t.close()
	if !t.asJSON {
		_, err := io.WriteString(t.stdout, text)
		return err
	}
	return writeJSON(t.stdout, struct {
		Result     any               `json:"result"`
		Violations []violationFields `json:"violations"`
	}{result, t.violations})
}

// failed ends a command that did not come to its end, with what it has found until then. state is as in interrupted.
func (t *teller) failed(ctx context.Context, err error, state string) error {
	t.close()
	if noRoom(err) {
		err = fmt.Errorf("%w\nthere is no room left on that disk: %s", err, state)
	}
	err = interrupted(ctx, err, state)
	if t.asJSON && len(t.violations) > 0 {
		return errors.Join(err, t.end("", nil))
	}
	return err
}

// restored ends a restoration. The text has a place for the numbers.
func (t *teller) restored(done backup.Restored, text string) error {
	numbers := fmt.Sprintf("%s, %s, %s", countText(done.Check.Resources, "resource", "resources"),
		countText(done.Check.Blobs, "file", "files"), commands.FormatBytes(done.Check.Bytes))
	fields := struct {
		Manifest backup.Manifest `json:"manifest"`
		Check    endFields       `json:"check"`
	}{done.Manifest, endFields(done.Check)}
	if err := t.end(fmt.Sprintf(text, numbers), fields); err != nil {
		return err
	}
	if n := done.Check.Violations; n > 0 && t.metadata {
		return fmt.Errorf("%w: %s wrong, and the metadata are damaged: they were so when the backup was made; restore an older one",
			errDamageFound, countText(n, "thing is", "things are"))
	} else if n > 0 {
		return fmt.Errorf("%w: %s wrong; %s lost already when the backup was made; an older backup may hold what is lost: %s repair --from OLDER --data DIR",
			errDamageFound, countText(n, "thing is", "things are"), countText(int64(len(done.Manifest.Damaged)), "file was", "files were"), program)
	}
	return nil
}

// noRoom tells whether a disk or a quota is full, here or where the service is.
func noRoom(err error) bool {
	var problem *client.Problem
	return errors.Is(err, blobs.ErrNoSpace) || errors.Is(err, metadata.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) ||
		errors.As(err, &problem) && problem.Code == errs.CodeNoSpace
}

// interrupted says in which state things are when somebody ended a command.
func interrupted(ctx context.Context, err error, state string) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("stopped: %s", state)
}

// moment is a stamp for people.
func moment(stamp metadata.Stamp) string { return stamp.Time().Format(time.DateTime) + " UTC" }
