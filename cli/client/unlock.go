package client

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/client"
)

func unlockCommand(p command.Process) *cobra.Command {
	var list, asJSON bool
	cmd := &cobra.Command{
		Use:   "unlock SET[/FOLDER/] | RESOURCE",
		Short: "End locks of the network drive",
		Long: `unlock ends the locks of a file, or of a folder and its direct content. Programs
lock files on the network drive, and an office program that crashed leaves its
locks. Admins of the dataspace can end every lock in it, other editors only
their own locks. A lock expires within an hour. Locks only affect the drive:
put, the web pages and other commands ignore them.`,
		Example: `  labshelf unlock lab-one/raw:plan.odt
  labshelf unlock lab-one/raw/2026/ --list`,
		Args: command.Exactly(1, "one set, such as lab-one/raw; a folder, such as lab-one/raw/2026/; or one file, such as lab-one/raw:plan.odt"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		path, err := drivePath(ctx, c, args[0])
		if err != nil {
			return err
		}
		locks, err := c.Locks.List(ctx, path)
		for i := 0; err == nil && !list && i < len(locks); i++ {
			err = c.Locks.End(ctx, locks[i])
		}
		if err != nil {
			return err
		}
		return reportLocks(p, locks, list, asJSON)
	})
	cmd.Flags().BoolVar(&list, "list", false, "only list the locks")
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, completion.SetsOrResources)
}

// drivePath returns the path of a set, a folder or a file on the drive.
func drivePath(ctx context.Context, c *client.Client, ref string) (string, error) {
	s, below, found, err := reference.LookupFolder(ctx, c, ref)
	if err == nil && !found {
		var r client.Resource
		if r, err = reference.FindResource(ctx, c, ref, client.Active); err == nil {
			below = r.Name
			s, err = c.Sets.Get(ctx, r.SetID)
		}
	}
	if err != nil {
		return "", err
	}
	d, err := c.Dataspaces.Get(ctx, s.DataspaceID)
	return strings.TrimSuffix(d.Name+"/"+s.Name+"/"+below, "/"), err
}

// reportLocks prints the locks that were found or ended.
func reportLocks(p command.Process, locks []client.DriveLock, listed, asJSON bool) error {
	if asJSON {
		return display.WriteJSON(p.Out, append([]client.DriveLock{}, locks...))
	}
	if len(locks) == 0 {
		_, err := display.Fprintf(p.Out, "There are no locks.\n")
		return err
	}
	verb := map[bool]string{true: "Locked", false: "Ended the lock of"}[listed]
	for _, l := range locks {
		by := ""
		if l.Owner != "" {
			by = " (by " + l.Owner + ")"
		}
		if _, err := display.Fprintf(p.Out, "%s %s%s\n", verb, l.Path, by); err != nil {
			return err
		}
	}
	return nil
}
