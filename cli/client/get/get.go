// Package get writes the file of a resource, or the files of a set, to a folder or to standard
// output.
package get

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"labshelf/cli/client/fetch"
	"labshelf/cli/client/filenames"
	"labshelf/cli/client/reference"
	"labshelf/cli/client/report"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
	"labshelf/formats/archive"
)

// standard stands for standard output instead of a file.
const standard = "-"

// Options select the place of the files, and whether they replace others.
type Options struct {
	report.Output
	To       string // a folder, the path of a single file, or standard; "": the current folder
	File     string // the path of a single file, or standard; "": see To
	Force    bool   // replace files with other content
	Parallel int    // files to fetch at a time
	Version  int64  // of a single resource; 0: the current one
}

// Run downloads the resource that ref names, or all resources of the set, to a folder. Errors:
// exit.ErrPartly, exit.ErrUsage.
func Run(ctx context.Context, c *client.Client, o Options, ref string) error {
	g := &job{Options: o, Fetcher: fetch.Fetcher{Client: c}}
	return exit.Interrupted(ctx, g.run(ctx, ref), "downloaded files are not fetched again")
}

// job is one run of get.
type job struct {
	Options
	fetch.Fetcher
	folder   string              // destination of the files
	named    bool                // the caller has named the single file
	ofSet    bool                // ref names a set, not a single resource
	partials map[string][]string // names of partial files of earlier runs, by the id of their resource
	report   *report.Report
	reported atomic.Int64 // finished files

	mu      sync.Mutex
	present []file // files that are in place
	renamed int    // files of this run that have another name than their resource
}

// file is a file to download.
type file struct {
	fetch.File
	name   string // of the resource
	path   string // below the folder
	shared bool   // another resource of the set has the same name
}

// renamed reports whether the file has another name than the resource.
func (o file) renamed() bool { return o.path != o.name }

func (g *job) run(ctx context.Context, ref string) error {
	set, resource, err := findEither(ctx, g.Client, ref)
	toStandard := g.File == standard || g.File == "" && g.To == standard
	switch {
	case err != nil:
		return err
	case set.State == client.Deleted:
		return fmt.Errorf("the set %s is deleted; \"labshelf restore --set %s\" restores it", display.Printable(set.Name), set.ID)
	case resource.State == client.Deleted:
		return fmt.Errorf("the resource %s is deleted; \"labshelf restore %s\" restores it", display.Printable(resource.Name), resource.ID)
	case g.File != "" && g.File != standard && set.ID != "":
		return exit.Usagef("%s is a set, but --output names one file: name a folder instead", ref)
	case toStandard && set.ID != "":
		return exit.Usagef("%s is a set, but only a single file can go to standard output: name a folder", ref)
	case g.Version != 0 && set.ID != "":
		return exit.Usagef("%s is a set, but --version is for a single resource", ref)
	case toStandard && g.JSON:
		return exit.Usagef("standard output can have the file or JSON: omit --json, or name a folder")
	case toStandard:
		return Cat(ctx, g.Client, g.Output, resource.ID, g.Version)
	}
	one := fetch.FileOf(resource)
	if g.Version != 0 {
		v, err := g.Client.Versions.Get(ctx, resource.ID, g.Version)
		if err != nil {
			return err
		}
		if v.Rule != "" {
			return fmt.Errorf("the file of version %d was removed on %s (%s)", v.Number, display.Time(v.Removed.Time), v.Rule)
		}
		one, resource.Name = fetch.FileOfVersion(v), v.Name
	}
	if g.ofSet = set.ID != ""; g.ofSet {
		g.folder = cmp.Or(g.To, ".")
		list, err := g.list(ctx, set)
		if err != nil {
			return err
		}
		return g.all(ctx, list)
	}
	path := g.placeOne()
	if g.named && (path == "" || path == "." || path == "..") {
		return exit.Usagef("%s names a folder, not a file", cmp.Or(g.File, g.To))
	}
	if path == "" {
		path = archive.NewPaths(filenames.Name, filenames.LockName).Give(resource.ID, resource.Name)
	}
	return g.all(ctx, []file{{one, resource.Name, path, false}})
}

// placeOne finds the folder for a single file, and its name there if the caller chose one.
func (g *job) placeOne() (name string) {
	to := cmp.Or(g.File, g.To, ".")
	if g.File == "" {
		info, err := os.Stat(to)
		if err == nil && info.IsDir() || os.IsPathSeparator(to[len(to)-1]) {
			g.folder = to
			return ""
		}
	}
	g.named = true
	g.folder, name = filepath.Split(to)
	g.folder = cmp.Or(g.folder, ".")
	return name
}

// findEither returns the set or the resource that ref names; the other result has no id. A set
// takes precedence.
func findEither(ctx context.Context, c *client.Client, ref string) (set client.Set, resource client.Resource, err error) {
	a, isURL := reference.ParseAddress(ref)
	_, _, inSet := reference.SetAddress(ref)
	if isURL && a.Kind != reference.SetKind && a.Kind != reference.ResourceKind {
		return set, resource, exit.Usagef("%s is not the address of a resource or a set", ref)
	}
	found := false
	if !isURL || a.Kind == reference.SetKind && !inSet {
		set, found, err = reference.LookupSet(ctx, c, ref, client.Active)
	}
	if !found && err == nil {
		resource, found, err = reference.LookupResource(ctx, c, ref, client.Active)
	}
	if !found && err == nil {
		err = reference.NotFound(ctx, c, ref, "a set or a resource", "\"labshelf ls\" and \"labshelf set ls\" list the existing ones")
	}
	return set, resource, err
}

// list lists the files of a set with the paths that they have in an archive of the set.
func (g *job) list(ctx context.Context, set client.Set) ([]file, error) {
	latest := map[string]file{} // a resource that changes between two pages appears twice
	for r, err := range g.Client.Sets.Resources(ctx, set.ID, client.ListOptions{Limit: reference.PageSize}) {
		if err != nil {
			return nil, err
		}
		if !reference.IDPattern.MatchString(r.ID) {
			return nil, fmt.Errorf("invalid id %q in the server's response", r.ID)
		}
		latest[r.ID] = file{File: fetch.FileOf(r), name: r.Name}
	}
	list, paths := slices.SortedFunc(maps.Values(latest), func(a, b file) int { return cmp.Compare(a.ID, b.ID) }), archive.NewPaths(filenames.Name, filenames.LockName)
	for i := range list {
		list[i].path = paths.Give(list[i].ID, list[i].name)
	}
	markShared(list)
	return list, nil
}

// all downloads files to the folder.
func (g *job) all(ctx context.Context, list []file) (err error) {
	if err := os.MkdirAll(g.folder, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(g.folder)
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
	m := g.NewMeter("get")
	defer m.Close()
	g.Root, g.Meter = root, m
	to := g.Output
	if !to.JSON {
		to.Out = to.Err // standard output is reserved for the file, so the report goes to standard error
	}
	g.report = report.New(to, m, getWords(), "there is no file to get")
	if err := g.findPartials(); err != nil {
		return err
	}
	for _, o := range list {
		m.Expect(1, o.Bytes)
	}
	if len(list) == 1 {
		g.report.Only = g.localPath(list[0])
	}
	err = fetch.Each(ctx, g.Parallel, len(list), func(ctx context.Context, i int) error { return g.get(ctx, list[i]) })
	if g.ofSet {
		err = cmp.Or(err, keepNames(root, g.present))
	}
	return g.finish(len(list), err)
}

// lockFolder excludes other runs that download a set to the folder, until unlocked is called.
func (g *job) lockFolder(root *os.Root) (unlocked func(), err error) {
	file, err := fetch.Fetcher{Root: root}.OpenPartial(filenames.LockName)
	if errors.Is(err, fetch.ErrLocked) {
		return nil, fmt.Errorf("%w: another labshelf is getting a set into %s; wait for it, or choose another folder", fetch.ErrLocked, g.folder)
	}
	if err != nil {
		return nil, err
	}
	return func() {
		_ = root.Remove(filenames.LockName) // removed while locked, so that a process that has opened it notices the removal
		_ = fetch.Unlock(file)
	}, nil
}
