package client

import (
	"context"

	"github.com/spf13/cobra"

	"labshelf/cli/client/command"
	"labshelf/cli/client/completion"
	"labshelf/cli/client/get"
	"labshelf/cli/client/mirror"
	"labshelf/cli/exit"
	"labshelf/client"
)

func getCommand(p command.Process) *cobra.Command {
	var o get.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get RESOURCE|SET [DIR|FILE]",
		Short: "Download a file, or all files of a set",
		Long: `get downloads all files of a set to the folder DIR, which it creates if
necessary, or to the current folder. A single file is written to DIR if that
folder exists or the path ends with a slash; otherwise the path is FILE. With -o
the path is always FILE; - is standard output. RESOURCE is an id, a URL, or
SET:NAME. SET is a name, an id, a URL, or DATASPACE/TITLE. The report goes to
standard error.

get turns names into paths below DIR that are valid on every system, as in a zip
of the set: elements such as .. are removed, and characters that some systems
reject become _. If several files have the same name, the oldest keeps it, and
the others get their id added. Renamed files are reported and counted, and
.labshelf-names.json in DIR has the names of their resources. put reads this
file, so that it does not send a folder from get again. Each file is verified
with its SHA-256 before it gets its name, and has the modification time of the
resource.

You can repeat get at any time: it does not fetch files again that exist with
the right content, and it resumes interrupted ones. An incomplete file is called
.labshelf-….part. An existing file with other content is reported and not
replaced, unless --force is given; the exit code shows this. While a run
downloads a set to a folder, no other run can download a set to it.

With --version N, get downloads the file of version N of a resource; "labshelf
versions" lists the versions.`,
		Example: `  labshelf get runs-2026:run-1.csv
  labshelf get runs-2026:run-1.csv --version 3 -o old.csv
  labshelf get runs-2026 runs
  labshelf get https://data.example.org/sets/01K5Z3 runs
  labshelf get runs-2026:log.gz - | gunzip`,
		Args:        command.Between(1, 2, "a RESOURCE or a SET, and optionally a DIR or FILE"),
		Annotations: exit.Codes(exit.CodeDamaged, exit.CodePartly, exit.CodeInterrupted),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if o.Output = p.Output(asJSON); len(args) == 2 {
			o.To = args[1]
		}
		return get.Run(ctx, c, o, args[0])
	})
	cmd.Flags().BoolVar(&o.Force, "force", false, "replace existing files that have other content")
	cmd.Flags().StringVarP(&o.File, "output", "o", "", "output `FILE`; - is standard output")
	cmd.Flags().Int64Var(&o.Version, "version", 0, "download version `N` of the resource")
	command.ParallelFlag(cmd, &o.Parallel, "get", command.FetchAtOnce)
	parallelFits := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("version") && o.Version < 1 {
			return exit.Usagef("--version must be a number, 1 or more")
		}
		if cmd.Flags().Changed("output") && (o.File == "" || len(args) == 2) {
			return exit.Usagef("--output names the file to write: give a path, and no DIR")
		}
		return parallelFits(cmd, args)
	}
	command.JSONFlag(cmd, &asJSON)
	return p.CompletesThenFolder(cmd, completion.SetsOrResources)
}

func catCommand(p command.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cat RESOURCE...",
		Short: "Write files to standard output",
		Long: `cat writes the files of one or more resources to standard output, one after the
other. It verifies their SHA-256. If a SHA-256 differs, or the connection
breaks, cat fails, and you must not use the output. On a terminal cat only shows
text files. "labshelf get" saves files, and resumes interrupted downloads.

RESOURCE is an id, a URL or SET:NAME; see "labshelf help references".`,
		Example: `  labshelf cat runs-2026:2026/11/run-1.csv | head
  labshelf cat runs-2026:picture.png > picture.png`,
		Args: command.AtLeast(1, "one or more resources, such as runs-2026:run-1.csv"),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		for _, ref := range args { // stop at the first error: an output with a gap is useless
			if err := get.Cat(ctx, c, p.Output(false), ref, 0); err != nil {
				return err
			}
		}
		return nil
	})
	return p.Completes(cmd, true, completion.Resources(client.Active))
}

func harvestCommand(p command.Process) *cobra.Command {
	var o mirror.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "harvest SET|DATASPACE|URL|all DIR",
		Short: "Mirror a set, a dataspace, or everything to a folder",
		Long: `harvest mirrors a listing to the folder DIR. The listing is a set, a dataspace,
everything that you can read ("all"), or the URL of a listing, which can contain
dataspaceId, setId or since. The first run fetches everything. Later runs, for
example every night, fetch only added and changed files, and remove deleted
ones; if nothing has changed, this takes one request. "harvest all" also follows
your permissions: it fetches dataspaces that you can read now, and removes the
files of dataspaces that you can no longer read.

DIR then contains
  files/          the files by name, each verified with its SHA-256; in a mirror
                  of several sets, in folders for dataspace and set
  metadata.jsonl  a line of JSON for each resource, including deleted ones
  README.txt      a description of DIR, for people who find it
  state.json      the state of the mirror, for the next run

Do not change DIR: later runs overwrite changes in files/, and move added files
to strays/ if their path is needed. A run can be interrupted or killed at any
moment; the next run resumes. Names become paths as in "labshelf get".

--from-start reads the complete listing again and verifies every local file with
its SHA-256. Use it if local files were changed, if state.json or metadata.jsonl
are damaged, or after the service was restored from a backup.

If a run would remove more than a tenth of the files and more than 5 of them, or
all files, it stops before any change, with exit code 7 and the reason. Perhaps
a role was revoked, or a dataspace deleted, by mistake. If the deletions are
right, run it again with --accept-deletions.

Files that cannot be fetched are reported, and tried again in each run.`,
		Example: `  labshelf harvest runs-2026 mirror
  labshelf harvest all /srv/mirror
  labshelf harvest https://data.example.org/v1/resources?since=2026-01 mirror`,
		Args:        command.Exactly(2, "the listing to mirror, and the folder for it"),
		Annotations: exit.Codes(exit.CodePartly, exit.CodeHeld, exit.CodeInterrupted),
	}
	p.Remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		o.Output = p.Output(asJSON)
		return mirror.Run(ctx, c, o, args[0], args[1])
	})
	cmd.Flags().BoolVar(&o.FromStart, "from-start", false, "read the whole listing again, and compare every local file")
	cmd.Flags().BoolVar(&o.AcceptDeletions, "accept-deletions", false, "allow the removal of any number of deleted files")
	command.ParallelFlag(cmd, &o.Parallel, "fetch", command.FetchAtOnce)
	command.JSONFlag(cmd, &asJSON)
	return p.CompletesThenFolder(cmd, completion.Either(completion.Words(mirror.All), completion.Dataspaces(client.Active), completion.Sets(client.Active)))
}
