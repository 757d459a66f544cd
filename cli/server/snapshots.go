package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"labshelf/backup"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/metadata"
)

// allowFlags are the flags that permit a snapshot although the latest one in the backup is not an
// earlier state of the same repository. Each has the error that it suppresses.
func allowFlags(allow *backup.Allow) []struct {
	name, help, means string
	value             *bool
	lifts             error
} {
	return []struct {
		name, help, means string
		value             *bool
		lifts             error
	}{
		{"allow-other-repository", "add the snapshot even if the latest one in DEST belongs to another repository",
			"perhaps DEST is the wrong folder; name another one", &allow.OtherRepository, backup.ErrOtherRepository},
		{"allow-newer-backup", "add the snapshot even if the latest one in DEST is a later state of the repository",
			"the records may have been put back to an older state by accident", &allow.NewerBackup, backup.ErrNewerBackup},
		{"allow-other-epoch", "add the snapshot even if the latest one in DEST has changes that a restoration, or an older meta.db, has undone",
			"an older snapshot was restored, or an older meta.db was put back; the folder contains later changes", &allow.OtherEpoch, backup.ErrOtherEpoch},
	}
}

func addAllowFlags(flags *pflag.FlagSet, allow *backup.Allow) {
	for _, f := range allowFlags(allow) {
		flags.BoolVar(f.value, f.name, false, f.help)
	}
}

// allowing explains the error of a rejected snapshot and names the flag that allows it. To other
// errors it adds advice.
func allowing(err error) error {
	for _, f := range allowFlags(&backup.Allow{}) {
		if errors.Is(err, f.lifts) {
			return fmt.Errorf("%w\n%s; nothing was changed; to add the snapshot anyway, use --%s", err, f.means, f.name)
		}
	}
	if errors.Is(err, syscall.ENOMEM) {
		return datadir.ExplainAddressSpace(err)
	}
	return err
}

func addAtFlag(cmd *cobra.Command, which *string) {
	cmd.Flags().StringVar(which, "at", "", "`SNAPSHOT` by its name in the list, or the last one up to a time, such as 2026-11-23 or \"2026-11-23 14:05\" in UTC (default: the latest)")
}

// listing adds to an error about a snapshot the command that lists the snapshots.
func listing(err error, folder string) error {
	list := "labshelf backup list " + folder
	switch {
	case errors.Is(err, syscall.ENOMEM):
		err = datadir.ExplainAddressSpace(err)
	case errors.Is(err, backup.ErrNoSnapshot):
		err = fmt.Errorf("%w\n%q lists the snapshots", err, list)
	case errors.Is(err, backup.ErrBroken):
		err = fmt.Errorf("%w\nanother snapshot may be complete: %q lists the snapshots, and --at selects one", err, list)
	}
	return err
}

// restoreOptions parses the value of --at and returns the options of a restoration.
func (r *reporter) restoreOptions(which string, partial bool) (o backup.RestoreOptions, err error) {
	if which != "" {
		if o.At, err = backup.ParseAt(which); err != nil {
			return o, exit.Usage(fmt.Errorf("--at: %w", err))
		}
	}
	o.Partial = partial
	o.Events = backup.Events{Progress: r.progress.set, Skipped: r.progress.skip, Violation: r.violation}
	return o, nil
}

// earlierText says how many snapshots can be restored in addition to the verified one.
func earlierText(count int64) string {
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("So can %s.\n", countText(count, "earlier snapshot", "earlier snapshots"))
}

// roomText says how many bytes a backup takes.
func roomText(r backup.Room) string {
	return fmt.Sprintf("It takes %s: %s of the metadata, %s; %s, %s.\n", display.Bytes(r.Bytes()),
		countText(r.Snapshots, "snapshot", "snapshots"), display.Bytes(r.Metadata), countText(r.Files.Count, "file", "files"), display.Bytes(r.Files.Bytes))
}

func backupListCommand(p process.Process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list SRC",
		Short: "List the snapshots in a backup, and their size",
		Long: `list shows the snapshots in the backup in the folder SRC, oldest first: the
name, the time of the last change, the time when the snapshot was created, its
size, and its epoch, which changes with each restoration. list does not check
the files: use verify for that.`,
		Args:        cobra.ExactArgs(1),
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(_ *cobra.Command, args []string) error {
			report := newReporter(p, asJSON)
			return process.UntilSignal(func(ctx context.Context) error {
				defer report.close()
				return listBackup(ctx, args[0], report)
			})
		},
	}
	cmd.Flags().SortFlags = false
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// listed is a backup in JSON.
type listed struct {
	Snapshots []snapshotFields `json:"snapshots"`
	Unusable  []unusableFields `json:"unusable"`
	Room      backup.Room      `json:"room"`
}

type snapshotFields struct {
	Name string `json:"name"`
	backup.Manifest
}

type unusableFields struct {
	Name  string `json:"name"`
	Wrong string `json:"wrong"`
}

func listBackup(ctx context.Context, src string, report *reporter) error {
	found, err := backup.List(ctx, src)
	if err != nil {
		return report.failed(ctx, err, "the backup was not listed")
	}
	fields := listed{Snapshots: []snapshotFields{}, Unusable: []unusableFields{}, Room: found.Room}
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "NAME\tLAST CHANGE\tMADE\tFILES\tBYTES\tMETADATA\tEPOCH\t") // writes to memory
	for _, m := range found.Snapshots {
		fields.Snapshots = append(fields.Snapshots, snapshotFields{m.Name(), m})
		lost := ""
		if n := int64(len(m.Damaged)); n > 0 {
			lost = countText(n, "file was", "files were") + " lost already"
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", m.Name(), moment(m.Stamp), m.Created.Format(time.DateTime), m.Blobs.Count,
			display.Bytes(m.Blobs.Bytes), display.Bytes(m.Database.Bytes), epochText(m.Epoch.ID), lost)
	}
	var damage error
	for _, u := range found.Unusable {
		name := u.Name
		if name == "" {
			name = "the latest"
		}
		fields.Unusable = append(fields.Unusable, unusableFields{u.Name, u.Err.Error()})
		damage = errors.Join(damage, fmt.Errorf("%s: %w", name, u.Err))
	}
	_ = t.Flush()
	return errors.Join(report.end(text.String()+roomText(found.Room), fields), damage)
}

// epochText shortens an id; the result is long enough to distinguish epochs.
func epochText(id metadata.EpochID) string {
	text := id.String()
	return text[:min(8, len(text))]
}
