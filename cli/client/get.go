package client

import (
	"context"

	"github.com/spf13/cobra"

	"labshelf/cli/client/completion"
	"labshelf/cli/client/get"
	"labshelf/cli/client/mirror"
	"labshelf/cli/exit"
	"labshelf/client"
)

func getCommand(p Process) *cobra.Command {
	var o get.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get RESOURCE|SET [DIR|FILE]",
		Short: "Download a file, or all files of a set",
		Long: `get writes all files of a set into the folder DIR, which it makes, or into the
one you are in. It writes a single file into DIR if that folder exists or the
path ends in a slash, and else to that path, as FILE. With -o the path is always
FILE; - is standard output. RESOURCE is an id, a URL, or SET:NAME; SET a name,
an id, a URL, or DATASPACE/TITLE. The report goes to standard error.

Names become paths below DIR that every system can write, as in the zip that the
pages make of a set: elements that lead elsewhere are left out, characters that
some system refuses become _, and of several files of one name the oldest keeps
it; the others get their id after it. A file that is renamed so is named and
counted, and .labshelf-names.json in DIR has the name of its resource: put uses
that, so that a folder from get goes back without being sent again. Each file is
verified with its SHA-256 before it gets its name, and has the modification time
of the resource.

get can be repeated at any time: a file that is there with the right content is
not fetched again, and an interrupted one is resumed. An incomplete file is
called .labshelf-….part. A file with the name but other content is reported and
not replaced, unless --force is given; the exit code says so. While a set is
fetched into a folder, no other run can fetch one into it.

With --version N it gets the file that a resource had in version N; "labshelf
versions" lists them.`,
		Example: `  labshelf get runs-2026:run-1.csv
  labshelf get runs-2026:run-1.csv --version 3 -o old.csv
  labshelf get runs-2026 runs
  labshelf get https://data.example.org/sets/01K5Z3 runs
  labshelf get runs-2026:log.gz - | gunzip`,
		Args:        between(1, 2, "a RESOURCE or a SET, and perhaps a DIR or FILE"),
		Annotations: exit.Codes(exit.CodeDamaged, exit.CodePartly, exit.CodeInterrupted),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if o.Output = p.output(asJSON); len(args) == 2 {
			o.To = args[1]
		}
		return get.Run(ctx, c, o, args[0])
	})
	cmd.Flags().BoolVar(&o.Force, "force", false, "replace files of the same name and other content")
	cmd.Flags().StringVarP(&o.File, "output", "o", "", "`FILE` to write the one resource to; - is standard output")
	cmd.Flags().Int64Var(&o.Version, "version", 0, "`N`, the version of the one resource to get")
	parallelFlag(cmd, &o.Parallel, "get", fetchAtOnce)
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
	jsonFlag(cmd, &asJSON)
	return p.completesThenFolder(cmd, completion.SetsOrResources)
}

func catCommand(p Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cat RESOURCE...",
		Short: "Write files to standard output",
		Long: `cat writes the file of a resource to standard output, or those of several, one
after the other. It verifies their SHA-256: where that differs, or the transfer
breaks off, cat fails, and what was written is not to be used. A terminal gets
text only. "labshelf get" saves files, and resumes interrupted downloads.

RESOURCE is an id, a URL or SET:NAME; see "labshelf help references".`,
		Example: `  labshelf cat runs-2026:2026/11/run-1.csv | head
  labshelf cat runs-2026:picture.png > picture.png`,
		Args: atLeast(1, "one or more resources, such as runs-2026:run-1.csv"),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		for _, ref := range args { // the output ends at the first error: one with a gap is of no use
			if err := get.Cat(ctx, c, p.output(false), ref, 0); err != nil {
				return err
			}
		}
		return nil
	})
	return p.completes(cmd, true, completion.Resources(client.Active))
}

func harvestCommand(p Process) *cobra.Command {
	var o mirror.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "harvest SET|DATASPACE|URL|all DIR",
		Short: "Keep an exact copy of what is in a set, a dataspace, or all",
		Long: `harvest makes the folder DIR a mirror of a listing: of the resources of a set
or a dataspace, of all that you may read (all), or of the listing that has this
URL (with dataspaceId, setId or since, if you like). The first run fetches
everything. Later runs, once a night for example, fetch only what was added or
changed since, and remove what was deleted; where nothing has changed that is
one request. With all, harvest also follows which dataspaces you may read: it
fetches new ones, and removes the files of those that you can no longer read.

In DIR there are then
  files/          the files by name, each verified with its SHA-256; in a mirror
                  of more than one set there are folders for dataspace and set
  metadata.jsonl  a line of JSON for each resource, also for deleted ones
  README.txt      a description of these, for people who find the folder
  state.json      the state of the mirror, for the next run

DIR belongs to the mirror: changes by hand in files/ are overwritten over time,
and files that are added there are moved to strays/ when they are in the way. A
run can be interrupted or killed at any moment; the next one goes on. Names
become paths as in labshelf get.

--from-start goes through the complete listing again and verifies every file
here with its SHA-256. Use it when files were changed here, when state.json or
metadata.jsonl are damaged, or after the service was restored from a backup.

A run that would remove more than a tenth of the files, and more than 5 of them,
or all, stops before it changes anything and says why, with exit code 7: a role
may have been revoked, or a dataspace deleted, by mistake. If it is right, run
it again with --accept-deletions.

Files that cannot be fetched are reported, and tried again in each run.`,
		Example: `  labshelf harvest runs-2026 mirror
  labshelf harvest all /srv/mirror
  labshelf harvest https://data.example.org/v1/resources?since=2026-01 mirror`,
		Args:        exactly(2, "what to mirror, and the folder for it"),
		Annotations: exit.Codes(exit.CodePartly, exit.CodeHeld, exit.CodeInterrupted),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		o.Output = p.output(asJSON)
		return mirror.Run(ctx, c, o, args[0], args[1])
	})
	cmd.Flags().BoolVar(&o.FromStart, "from-start", false, "go through everything again, and compare every file here")
	cmd.Flags().BoolVar(&o.AcceptDeletions, "accept-deletions", false, "remove what is gone, however much that is")
	parallelFlag(cmd, &o.Parallel, "fetch", fetchAtOnce)
	jsonFlag(cmd, &asJSON)
	return p.completesThenFolder(cmd, completion.Either(completion.Words(mirror.All), completion.Dataspaces(client.Active), completion.Sets(client.Active)))
}
