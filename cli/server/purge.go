package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"labshelf/cli/connection"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/client"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// defaultGrace is how long removed files stay in the trash if --grace is not given.
const defaultGrace = "14d"

func purgeCommand(p process.Process) *cobra.Command {
	var (
		olderThan, grace string
		o                maintenance.PurgeOptions
		asJSON           bool
	)
	cmd := &cobra.Command{
		Use:   "purge --older-than TIME",
		Short: "Remove the files of objects that were deleted long ago",
		Long: `purge removes the files of resources that were deleted more than TIME ago, with
all their versions. It also removes the files of versions that were replaced
more than TIME ago and that "labshelf retention" does not keep. The records
stay. A version with a label is removed only together with its resource, and is
listed. purge also removes files that no record has referred to for TIME. This
time begins when a resource is deleted, when a version is removed, or when a
purge or the service first notices the file. Removed files go to the folder
trash. A purge deletes them from there after the grace period, so that it does
not disturb a running backup.

` + placeHelp,
		Args:        cobra.NoArgs,
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			at, err := placeOf(cmd.Flags(), p)
			if err != nil {
				return err
			}
			if olderThan == "" {
				return exit.Usage(errors.New("--older-than must say how long ago an object was deleted, such as --older-than 90d"))
			}
			if o.OlderThan, err = ageOf("older-than", olderThan); err != nil {
				return err
			}
			switch {
			case cmd.Flags().Changed("grace"):
				o.Grace, err = ageOf("grace", grace)
			case at.remote != nil:
				o.Grace = -1 // the service uses its own setting
			default:
				o.Grace, err = ageOf("grace", defaultGrace)
			}
			if err != nil {
				return err
			}
			return process.UntilSignal(func(ctx context.Context) error { return purge(ctx, p, at, o, asJSON) })
		},
	}
	addPlaceFlags(cmd.Flags())
	cmd.Flags().StringVar(&olderThan, "older-than", "", "minimum `TIME` since the deletion, such as 90d or 36h")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "change nothing; print what would be removed")
	cmd.Flags().StringVar(&grace, "grace", "", fmt.Sprintf("`TIME` for which removed files stay in the trash (default %s, or the setting of the running service)", defaultGrace))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the numbers as a JSON object")
	return cmd
}

func ageOf(flag, text string) (time.Duration, error) {
	age, err := maintenance.ParseAge(text)
	if err != nil {
		return 0, exit.Usage(fmt.Errorf("--%s must be %w, not %q", flag, err, text))
	}
	return age, nil
}

// purgeRemote calls the purge of a running service.
func purgeRemote(ctx context.Context, remote *client.Client, o maintenance.PurgeOptions) (wire.PurgeResult, error) {
	defer remote.Close()
	r := wire.PurgeRequest{OlderThan: o.OlderThan.String(), DryRun: o.DryRun}
	if o.Grace >= 0 {
		r.Grace = o.Grace.String()
	}
	result, err := remote.Maintenance.Purge(ctx, r)
	return result, connection.NameVersions(ctx, remote, process.Version(), err)
}

func purge(ctx context.Context, p process.Process, at place, o maintenance.PurgeOptions, asJSON bool) error {
	var result wire.PurgeResult
	var err error
	if at.remote != nil {
		result, err = purgeRemote(ctx, at.remote, o)
	} else {
		result, err = purgeData(ctx, at, o)
	}
	if err != nil {
		return interrupted(ctx, err, "the files removed so far stay removed; run the command again to resume")
	}
	if asJSON {
		return writeJSON(p.Out, result)
	}
	removed, deleted := "were removed", "were deleted"
	if o.DryRun {
		removed, deleted = "would be removed", "would be deleted"
	}
	for _, v := range result.Labelled {
		_, err := fmt.Fprintf(p.Out, "version %d of the deleted %s (%s), labelled %q\n", v.Version, display.Printable(v.Name), v.ResourceID, display.Printable(v.Label))
		if err != nil {
			return err
		}
	}
	for _, line := range []struct {
		what         string
		count, bytes int64
	}{
		{"deleted resources whose files " + removed, result.Resources, result.ResourceBytes},
		{"old versions whose files " + removed, result.Versions, result.VersionBytes},
		{"files of these that no other record references", result.Blobs, result.BlobBytes},
		{"files without a record", result.Orphans, result.OrphanBytes},
		{"unreferenced files kept: not unreferenced long enough", result.Recent, result.RecentBytes},
		{"files in the trash that " + deleted, result.TrashFiles, result.TrashBytes},
	} {
		if _, err := fmt.Fprintf(p.Out, "%s: %d, %s\n", line.what, line.count, display.Bytes(line.bytes)); err != nil {
			return err
		}
	}
	return nil
}

// purgeData purges the data directory of a stopped service.
func purgeData(ctx context.Context, at place, o maintenance.PurgeOptions) (result wire.PurgeResult, err error) {
	if err := at.stores.Require(at.data); err != nil {
		return result, err
	}
	data, err := datadir.Open(at.data, at.stores)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	labelled := []wire.LabelledVersion{}
	o.Labelled = func(v metadata.Version) {
		labelled = append(labelled, wire.LabelledVersion{ResourceID: v.ResourceID.String(), Name: v.Name, Version: int64(v.Number) + 1, Label: v.Label})
	}
	p, err := maintenance.NewUpkeep(data.Metadata, data.Blobs).Purge(ctx, o)
	return wire.PurgeResult{
		DryRun: o.DryRun, Resources: p.Resources, ResourceBytes: p.ResourceBytes, Versions: p.Versions, VersionBytes: p.VersionBytes,
		LabelledVersions: p.LabelledVersions, Labelled: labelled, Blobs: p.Blobs, BlobBytes: p.BlobBytes, Orphans: p.Orphans, OrphanBytes: p.OrphanBytes,
		TrashFiles: p.TrashFiles, TrashBytes: p.TrashBytes, Recent: p.Recent, RecentBytes: p.RecentBytes,
	}, err
}
