package client

import (
	"context"

	"github.com/spf13/cobra"

	"labshelf/cli/client/completion"
	"labshelf/cli/client/put"
	"labshelf/cli/exit"
	"labshelf/client"
)

func putCommand(p Process) *cobra.Command {
	var o put.Options
	cmd := &cobra.Command{
		Use:   "put FILE|DIR... SET",
		Short: "Put files and folders into a set",
		Long: `put sends files into a set, and from a folder all that is in it. The name of a
resource is that of the file, or its path below the folder: put data sends
data/2026/a.csv as 2026/a.csv.

A file that the set has already, with the same name and the same bytes, is not
sent again, unless the service reports it as damaged. A resource of that name
with other bytes is replaced, and keeps its description and format unless others
are given; one that was changed since put began is reported and not replaced. So
put can be repeated at any time, after an interruption or when files were added:
it sends only what is new. Files that were removed here stay in the set.

A file of more than 16 MiB is sent in chunks, and resumed when the connection
breaks and when put is run again, for as long as the service keeps the chunks: 7
days after the last one, unless it is configured otherwise.

Symbolic links in folders, and other entries that are no regular files, are
skipped, named, and counted by kind; a link that is an argument is followed.
What --exclude matches is skipped in silence: a PATTERN with a / in it is
matched with the path below the folder, one without with the last element of it,
of files and folders. So are .DS_Store, Thumbs.db, desktop.ini, the files of get
(.labshelf-…) and empty folders. A file that get has renamed goes back under the
name of its resource.

A file that cannot be read, or that changes while it is read, is reported and
not stored; the others are. An error that concerns every file, such as a full
disk of the service, ends put with exit code 1: the files that were tried are
named, and the others counted. With - in place of files, standard input becomes
the resource --name, by way of a temporary file.

SET is the name, id or URL of a set, or DATASPACE/NAME. put ends with a report.
With --json each file is a line with its "outcome" (sent, replaced, there,
skipped or failed; a file may be repeated with another one), and the last line
has the sums, as "end".`,
		Example: `  labshelf put run-1.csv run-2.csv runs-2026
  labshelf put /data/microscope lab-one/images --new-set --exclude '*.tmp'
  labshelf put D:\data\today runs-2026 --under 2026-11-22
  mysqldump lab | gzip | labshelf put - backups --name lab.sql.gz`,
		Args:        atLeast(2, "files or folders, and then the set to put them into"),
		Annotations: exit.Codes(exit.CodePartly, exit.CodeInterrupted),
	}
	cmd = p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		o.Output, o.In = p.output(o.JSON), p.In
		last := len(args) - 1
		return put.Run(ctx, c, o, args[:last], args[last])
	})
	definePut(cmd, &o)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) (sets []cobra.Completion, files cobra.ShellCompDirective) {
		if len(args) > 0 {
			sets, _ = p.ask(cmd, completion.Sets(client.Active), typed)
		}
		return sets, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// definePut defines the flags.
func definePut(cmd *cobra.Command, o *put.Options) {
	flags := cmd.Flags()
	flags.StringVar(&o.Name, "name", "", "`NAME` of the resource, for one file or -")
	flags.StringVar(&o.Under, "under", "", "`FOLDER` to put in front of every name, such as 2026/run-7")
	flags.StringVar(&o.Description, "description", "", "`TEXT` to describe each of the files")
	flags.StringVar(&o.Format, "format", "", "`FORMAT` of each of the files, such as CSV (default: from their names)")
	flags.StringArrayVar(&o.Exclude, "exclude", nil, "`PATTERN` of files and folders to leave out, such as '*.tmp' or raw/old; may be repeated")
	flags.BoolVar(&o.NewSet, "new-set", false, "make the set if there is none; SET is DATASPACE/NAME then")
	flags.BoolVar(&o.Dry, "dry-run", false, "change nothing; show what would be sent and replaced")
	parallelFlag(cmd, &o.Parallel, "send", sendAtOnce)
	jsonFlag(cmd, &o.JSON)
}
