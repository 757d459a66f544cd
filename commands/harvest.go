package commands

import (
	"context"

	"github.com/spf13/cobra"

	"labshelf/client"
	"labshelf/commands/completion"
	"labshelf/commands/mirror"
)

func harvestCommand(p Process) *cobra.Command {
	var fromStart, asJSON bool
	var parallel int
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

Files that cannot be fetched are reported, and tried again in each run.`,
		Example: `  labshelf harvest runs-2026 mirror
  labshelf harvest all /srv/mirror
  labshelf harvest https://data.example.org/v1/resources?since=2026-01 mirror`,
		Args:        exactly(2, "what to mirror, and the folder for it"),
		Annotations: p.ExitCodes(6, 130),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		return mirror.Run(ctx, c, mirror.Options{Output: p.output(asJSON), FromStart: fromStart, Parallel: parallel}, args[0], args[1])
	})
	cmd.Flags().BoolVar(&fromStart, "from-start", false, "go through everything again, and compare every file here")
	parallelFlag(cmd, &parallel, "fetch", fetchAtOnce)
	jsonFlag(cmd, &asJSON)
	return p.completesThenFolder(cmd, completion.Either(completion.Words(mirror.All), completion.Dataspaces(client.Active), completion.Sets(client.Active)))
}
