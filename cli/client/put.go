package client

import (
	"context"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/put"
	"labshelf/cli/exit"
	"labshelf/client"
)

const putHelp = `put uploads files and folders to a set. The name of a resource is the name of
the file, or its path below the folder: put data sends data/2026/a.csv as
2026/a.csv.

put does not send a file again if the set has a resource with the same name and
bytes, unless the service reports that resource as damaged. If the bytes differ,
it replaces the file of the resource, and keeps the description and format
unless flags change them. A resource that has changed since put began is
reported and not replaced. So you can repeat put at any time, for example after
an interruption or to add files: it sends only new content. Files that you
remove locally stay in the set.

A file of more than 16 MiB is sent in chunks. put resumes the upload after a
broken connection, or in the next run, as long as the service keeps the chunks:
for 7 days after the last chunk by default.

Symbolic links in folders, and other entries that are not regular files, are
skipped, reported, and counted by kind; a link that is an argument is followed.
Entries that match --exclude are skipped silently. A PATTERN with a / is matched
against the path below the folder, and any other PATTERN against the last
element. Both apply to files and folders. .DS_Store, Thumbs.db, desktop.ini, the
files of get (.labshelf-…) and empty folders are skipped, too. A file that get
has renamed is sent under the name of its resource.

A file that cannot be read, or that changes while it is read, is reported and
not stored; the others are stored. An error that affects every file, such as a
full disk of the service, ends put with exit code 1: put reports the files that
it tried, and counts the others. With - instead of files, put stores standard
input as the resource --name, using a temporary file.

With a key that may only add files ("labshelf key new --scope add"), SET must be
the id or URL of the set. put then keeps a list of the files that it has sent
from this computer, and skips those. It replaces nothing: a changed file becomes
another resource of the same name.

SET is the name, id or URL of a set, or DATASPACE/NAME. put ends with a report.
With --json, put prints a line for each file, with its "outcome": sent,
replaced, there (already stored), skipped or failed. A file can have several
lines with different outcomes. The last line, "end", has the totals.`

func putCommand(p command.Process) *cobra.Command {
	var o put.Options
	cmd := &cobra.Command{
		Use:   "put FILE|DIR... SET",
		Short: "Upload files and folders to a set",
		Long:  putHelp,
		Example: `  labshelf put run-1.csv run-2.csv runs-2026
  labshelf put /data/microscope lab-one/images --new-set --exclude '*.tmp'
  labshelf put D:\data\today runs-2026 --under 2026-11-22
  mysqldump lab | gzip | labshelf put - backups --name lab.sql.gz`,
		Args:        command.AtLeast(2, "files or folders, and the set to upload them to"),
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	}
	cmd = p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		o.Output, o.In = p.Output(o.JSON), p.In
		last := len(args) - 1
		return put.Run(ctx, c, o, args[:last], args[last])
	})
	definePut(cmd, &o)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) (sets []cobra.Completion, files cobra.ShellCompDirective) {
		if len(args) > 0 {
			sets, _ = p.Ask(cmd, completion.Sets(client.Active), typed)
		}
		return sets, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// definePut defines the flags.
func definePut(cmd *cobra.Command, o *put.Options) {
	flags := cmd.Flags()
	flags.StringVar(&o.Name, "name", "", "`NAME` of the resource, for one file or -")
	flags.StringVar(&o.Under, "under", "", "`FOLDER` in front of every name, such as 2026/run-7")
	flags.StringVar(&o.Description, "description", "", "description `TEXT` of each file")
	flags.StringVar(&o.Format, "format", "", "`FORMAT` of each file, such as CSV (default: from its name)")
	flags.StringArrayVar(&o.Exclude, "exclude", nil, "`PATTERN` of files and folders to skip, such as '*.tmp' or raw/old; may be repeated")
	flags.BoolVar(&o.NewSet, "new-set", false, "create the set if it does not exist; SET must be DATASPACE/NAME")
	flags.BoolVar(&o.Dry, "dry-run", false, "change nothing; show what would be sent and replaced")
	command.ParallelFlag(cmd, &o.Parallel, "send", command.SendAtOnce)
	command.JSONFlag(cmd, &o.JSON)
}
