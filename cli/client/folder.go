package client

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/reference"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

func folderCommand(p command.Process) *cobra.Command {
	const rules = `
A folder is the common beginning of file names, up to a slash. SET/FOLDER/ must
end with a slash; SET is a name, an id, or DATASPACE/SET.`
	return p.Branch("folder", "Create, move, copy, delete and restore folders of sets",
		changeFolder(p, &cobra.Command{
			Use:   "new SET/FOLDER/",
			Short: "Create an empty folder",
			Long: `new creates an empty folder, which is visible in listings and on drives. A
folder that contains files need not be created.` + rules,
			Example: "  labshelf folder new runs-2026/raw/",
		}, 1, func(ctx context.Context, c *client.Client, at folderAt, _ client.FolderDestination) (client.FolderChange, string, error) {
			done, err := c.Folders.Create(ctx, at.set.ID, at.path)
			return done, "Made " + at.String() + ".", err
		}),
		changeFolder(p, &cobra.Command{
			Use:   "mv SET/FOLDER/ SET/NEWFOLDER/",
			Short: "Rename a folder, or move it within its set or to another one",
			Long: `mv moves a folder with its content. Within a set, files keep their ids; in
another set they get new ids, as with "labshelf mv". If the destination exists,
mv fails. To undo a move, move the folder back.` + rules,
			Example: "  labshelf folder mv runs-2026/raw/ runs-2026/2026/raw/",
		}, 2, func(ctx context.Context, c *client.Client, at folderAt, to client.FolderDestination) (client.FolderChange, string, error) {
			done, err := c.Folders.Move(ctx, at.set.ID, at.path, to)
			return done, fmt.Sprintf("Moved %s of %s to %s.", fileCount(done), at, display.Printable(done.Path)), err
		}),
		changeFolder(p, &cobra.Command{
			Use:   "cp SET/FOLDER/ SET/NEWFOLDER/",
			Short: "Copy a folder within its set or to another one",
			Long: `cp copies a folder with the current versions of all its files. No bytes are
copied. If the destination exists, cp fails.` + rules,
			Example: "  labshelf folder cp runs-2026/raw/ published/figure-2/",
		}, 2, func(ctx context.Context, c *client.Client, at folderAt, to client.FolderDestination) (client.FolderChange, string, error) {
			done, err := c.Folders.Copy(ctx, at.set.ID, at.path, to)
			return done, fmt.Sprintf("Copied %s of %s to %s.", fileCount(done), at, display.Printable(done.Path)), err
		}),
		changeFolder(p, &cobra.Command{
			Use:   "rm SET/FOLDER/",
			Short: "Delete a folder with its content",
			Long: `rm deletes all files in a folder and its subfolders, and prints the command that
undoes this. It does not ask for confirmation.` + rules,
			Example: "  labshelf folder rm runs-2026/tests/",
		}, 1, func(ctx context.Context, c *client.Client, at folderAt, _ client.FolderDestination) (client.FolderChange, string, error) {
			done, err := c.Folders.Delete(ctx, at.set.ID, at.path)
			return done, fmt.Sprintf("Deleted %s of %s. To restore them: labshelf folder restore %s%s", fileCount(done), at, quoted(done.SetID+"/"+done.Path), undoing(done)), err
		}),
		restoreFolder(p, rules),
	)
}

func restoreFolder(p command.Process, rules string) *cobra.Command {
	var deleted client.FolderChange
	cmd := changeFolder(p, &cobra.Command{
		Use:   "restore SET/FOLDER/ --deletion ID",
		Short: "Undo the deletion of a folder",
		Long: `restore undoes your deletion of a folder: it restores the deleted files, except
those that were restored, purged or moved since. rm prints the complete command.` + rules,
		Example: "  labshelf folder restore runs-2026/tests/ --deletion 64a0b1c-64a0b2d",
	}, 1, func(ctx context.Context, c *client.Client, at folderAt, _ client.FolderDestination) (client.FolderChange, string, error) {
		deleted.SetID, deleted.Path = at.set.ID, at.path
		done, err := c.Folders.Restore(ctx, deleted)
		if err == nil && done.Files+done.Folders == 0 {
			err = fmt.Errorf("nothing was restored: your deletion has no files in %s that are still deleted", at)
		}
		return done, fmt.Sprintf("Restored %s of %s.", fileCount(done), at), err
	})
	cmd.Flags().StringVar(&deleted.Deletion, "deletion", "", "`ID` of the deletion, as printed by rm")
	cmd.Flags().StringArrayVar(&deleted.CreatedFolders, "folder", nil, "`PATH` of a folder that was created empty, as printed by rm; may be repeated")
	cmd.MarkFlagsOneRequired("deletion", "folder")
	return cmd
}

// folderAt is the folder that an argument names. The set exists, but the folder might not exist.
type folderAt struct {
	set  client.Set
	path string
}

func (f folderAt) String() string {
	return display.Printable(f.set.Name + "/" + f.path)
}

// findFolder parses SET/FOLDER/ and finds the set.
func findFolder(ctx context.Context, c *client.Client, ref string) (at folderAt, err error) {
	if !strings.HasSuffix(ref, "/") {
		return at, exit.Usagef("%q must end in a slash, as SET/FOLDER/", ref)
	}
	if err := reference.Complete(strings.TrimSuffix(ref, "/")); err != nil {
		return at, err
	}
	var found bool
	at.set, at.path, found, err = reference.LookupFolder(ctx, c, ref)
	switch {
	case err != nil:
		return at, err
	case !found:
		return at, fmt.Errorf(`%q does not begin with a set that you can read; "labshelf ls" lists dataspaces,
and "labshelf ls DATASPACE" their sets`, ref)
	case at.path == "":
		return at, exit.Usagef("%q is a set; name a folder of it, as %s/FOLDER/", ref, strings.TrimSuffix(ref, "/"))
	}
	return at, nil
}

// changeFolder completes a command with a folder, and optionally a destination, as arguments.
// change returns the text for display.
func changeFolder(p command.Process, cmd *cobra.Command, args int, change func(context.Context, *client.Client, folderAt, client.FolderDestination) (client.FolderChange, string, error)) *cobra.Command {
	var asJSON bool
	cmd.Args = command.Exactly(args, "a folder, as SET/FOLDER/"+map[int]string{2: ", and its destination, as SET/NEWFOLDER/"}[args])
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		at, err := findFolder(ctx, c, args[0])
		if err != nil {
			return err
		}
		var to client.FolderDestination
		if len(args) > 1 {
			goal, err := findFolder(ctx, c, args[1])
			if err != nil {
				return err
			}
			to = client.FolderDestination{SetID: goal.set.ID, Path: goal.path}
		}
		done, text, err := change(ctx, c, at, to)
		if err != nil {
			return err
		}
		return p.Done(done, asJSON, "%s\n", text)
	})
	command.JSONFlag(cmd, &asJSON)
	return p.Completes(cmd, false, completion.Sets(client.Active))
}

func fileCount(done client.FolderChange) string {
	if done.Files == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", done.Files)
}

// undoing returns the flags that restore a deletion.
func undoing(done client.FolderChange) string {
	var flags strings.Builder
	if done.Deletion != "" {
		flags.WriteString(" --deletion " + done.Deletion)
	}
	for _, path := range done.CreatedFolders {
		flags.WriteString(" --folder " + quoted(path))
	}
	return flags.String()
}

// quoted quotes a text for a shell. Characters that must not reach a terminal become escapes, which
// bash, zsh and ksh understand. Different names have different results.
func quoted(text string) string {
	if display.Printable(text) == text {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case display.Printable(string(r)) == string(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return "$'" + b.String() + "'"
}
