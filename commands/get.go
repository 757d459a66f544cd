package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"labshelf/archive"
	"labshelf/client"
)

// standard stands for standard input or output where a file is named.
const standard = "-"

func getCommand(p Process) *cobra.Command {
	var force, asJSON bool
	var parallel int
	cmd := &cobra.Command{
		Use:   "get RESOURCE|SET [DIR]",
		Short: "Get a file, or all files of a set",
		Long: `get writes a file, or all files of a set, into a folder: DIR, which is made, or
the one you are in. RESOURCE is an id, a URL, or SET:NAME; SET a name, an id, a
URL, or DATASPACE/TITLE. With - for DIR a single file goes to standard output.

Names become paths below DIR that every system can write, as in the zip that the
pages make of a set: what leads elsewhere is left out, characters that some
system refuses become _, and of several files of one name the oldest keeps it;
the others have their id behind it. A file whose name changes so is named and
counted, and .labshelf-names.json in DIR keeps its name as a resource: put gives
it back, so that a folder from get goes back without sending anything anew. Each
file is compared with its SHA-256 before it gets its name, and has the time of
its last change.

Run it again at any time: what is there with the right content is not fetched
again, and what broke off goes on where it stopped. Until a file is whole it is
called .labshelf-….part. A file of other content that has the name already is
left as it is and told, and so is the exit code; --force replaces it. While a
set is got into a folder, no other run gets one into it.`,
		Example: `  labshelf get runs-2026:run-1.csv
  labshelf get runs-2026 runs
  labshelf get https://data.example.org/sets/01K5Z3 runs
  labshelf get runs-2026:log.gz - | gunzip`,
		Args:        getArgs,
		Annotations: p.ExitCodes(5, 6, 130),
	}
	p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		g := &getting{Process: p, fetcher: fetcher{client: c}, dir: ".", force: force, asJSON: asJSON, parallel: parallel}
		if err := checkParallel(parallel); err != nil {
			return err
		}
		if len(args) == 2 {
			g.dir = args[1]
		}
		return interrupted(ctx, g.run(ctx, args[0]), "what is here is not fetched again")
	})
	cmd.Flags().BoolVar(&force, "force", false, "replace files of the same name and other content")
	parallelFlag(cmd, &parallel, "get", fetchAtOnce)
	jsonFlag(cmd, &asJSON)
	return p.completesThenFolder(cmd, setsOrResources)
}

func getArgs(_ *cobra.Command, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return fmt.Errorf("want a RESOURCE or a SET, and perhaps a DIR; got %s", arguments(len(args)))
	}
	return nil
}

// completesThenFolder lets shells complete what o offers, and then a folder.
func (p Process) completesThenFolder(cmd *cobra.Command, o offer) *cobra.Command {
	p.completes(cmd, false, o)
	what := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return what(cmd, args, typed)
	}
	return cmd
}

// getting is a get under way.
type getting struct {
	Process
	fetcher
	dir           string
	force, asJSON bool
	parallel      int
	ofSet         bool                // it is a set, and not one resource
	partials      map[string][]string // names of files that began to arrive earlier, by the id of their resource
	report        *report
	told          atomic.Int64 // files of which something became

	mu      sync.Mutex
	present []one // files that are here now
	renamed int   // of those that came in this run
}

// one is a file to get.
type one struct {
	wanted
	name   string // of the resource
	path   string // below the folder
	shared bool   // another resource of the set has the name
}

// renamed tells whether the file has another name than the resource.
func (o one) renamed() bool { return o.path != o.name }

func (g *getting) run(ctx context.Context, ref string) error {
	set, resource, err := findEither(ctx, g.client, ref)
	switch {
	case err != nil:
		return err
	case set.State == client.Deleted:
		return fmt.Errorf("the set %s is deleted; \"labshelf restore --set %s\" brings it back", printable(set.Name), set.ID)
	case resource.State == client.Deleted:
		return fmt.Errorf("the resource %s is deleted; \"labshelf restore %s\" brings it back", printable(resource.Name), resource.ID)
	case g.dir == standard && set.ID != "":
		return usagef("%s is a set, and only a single file can go to standard output: give a folder", ref)
	case g.dir == standard && g.asJSON:
		return usagef("standard output can get the file or JSON: leave out --json, or give a folder")
	case g.dir == standard:
		return g.cat(ctx, g.client, resource.ID)
	}
	list := []one{{wantedOf(resource), resource.Name, archive.NewPaths(namesFile, getLockFile).Give(resource.ID, resource.Name), false}}
	if g.ofSet = set.ID != ""; g.ofSet {
		if list, err = g.list(ctx, set); err != nil {
			return err
		}
	}
	return g.all(ctx, list)
}

// findEither returns the set or the resource that ref names; the other one has no id. Where both could be meant it is the set.
func findEither(ctx context.Context, c *client.Client, ref string) (set client.Set, resource client.Resource, err error) {
	a, isURL := parseAddress(ref)
	_, _, inSet := setAddress(ref)
	if isURL && a.kind != setKind && a.kind != resourceKind {
		return set, resource, usagef("%s is the address of neither a resource nor a set", ref)
	}
	found := false
	if !isURL || a.kind == setKind && !inSet {
		set, found, err = lookupSet(ctx, c, ref, client.Active)
	}
	if !found && err == nil {
		resource, found, err = lookupResource(ctx, c, ref, client.Active)
	}
	if !found && err == nil {
		err = meant(ctx, c, ref, "a set or a resource", "\"labshelf ls\" and \"labshelf set ls\" list what there is")
	}
	return set, resource, err
}

// list lists the files of a set under the paths that an archive of it would give them.
func (g *getting) list(ctx context.Context, set client.Set) ([]one, error) {
	latest := map[string]one{} // what changes while the pages come, comes twice
	for r, err := range g.client.SetResources(ctx, set.ID, client.ListOptions{Limit: wholePage}) {
		if err != nil {
			return nil, err
		}
		if !anID.MatchString(r.ID) {
			return nil, fmt.Errorf("the service gave %q for an id, which no labshelf does", r.ID)
		}
		latest[r.ID] = one{wanted: wantedOf(r), name: r.Name}
	}
	list, paths := slices.SortedFunc(maps.Values(latest), func(a, b one) int { return cmp.Compare(a.id, b.id) }), archive.NewPaths(namesFile, getLockFile)
	for i := range list {
		list[i].path = paths.Give(list[i].id, list[i].name)
	}
	markShared(list)
	return list, nil
}

// all gets files into the folder.
func (g *getting) all(ctx context.Context, list []one) (err error) {
	if err := os.MkdirAll(g.dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(g.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if g.ofSet {
		unlocked, err := g.lockFolder(root)
		if err != nil {
			return err
		}
		defer unlocked()
	}
	m := g.newMeter("get")
	defer m.Close()
	g.root, g.meter = root, m
	g.report = &report{p: g.Process, meter: m, asJSON: g.asJSON, wording: getWords(), counts: map[outcome]tally{}, none: "there is no file to get"}
	if err := g.findPartials(); err != nil {
		return err
	}
	for _, o := range list {
		m.expect(1, o.bytes)
	}
	if len(list) == 1 {
		g.report.only = g.here(list[0])
	}
	err = each(ctx, g.parallel, len(list), func(ctx context.Context, i int) error { return g.get(ctx, list[i]) })
	if g.ofSet {
		err = cmp.Or(err, keepNames(root, g.present))
	}
	return g.finish(len(list), err)
}

// lockFolder keeps other runs that get a set out of the folder until unlocked is called.
func (g *getting) lockFolder(root *os.Root) (unlocked func(), err error) {
	file, err := fetcher{root: root}.open(getLockFile)
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("%w: another labshelf is getting a set into %s; let it end, or choose another folder", errLocked, g.dir)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		_ = root.Remove(getLockFile) // while it is locked: a process that has opened it before sees that it is gone
		_ = unlock(file)
	}, nil
}
