package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/directory"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/verify/e2e"
)

// size is the amount of data to generate.
type size struct{ resources, sets, dataspaces, bodies int }

// Bounds for the number of resources in a transaction, which is a twentieth of the remaining
// number. Large transactions are fast, but leave many pages free. Small transactions at the end
// reuse these pages, as years of small changes would.
const (
	leastInCommit = 100
	mostInCommit  = 50_000
)

// generate fills a new data directory, on which the service can be started. It calls the storage
// code of the program directly, with large transactions and without HTTP. It assigns resources to
// the sets in turn, and sets to the dataspaces in turn.
func generate(ctx context.Context, args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("fill", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var want size
	flags.IntVar(&want.resources, "resources", 1_000_000, "number of `RESOURCES`")
	flags.IntVar(&want.sets, "sets", 1000, "number of `SETS`")
	flags.IntVar(&want.dataspaces, "dataspaces", 50, "number of `DATASPACES`")
	flags.IntVar(&want.bodies, "bodies", 10_000, "number of different `BODIES` of 4 KiB")
	if err := flags.Parse(args); err != nil {
		return usageError{err}
	}
	if flags.NArg() != 1 || min(want.resources, want.sets, want.dataspaces, want.bodies) < 1 {
		return usageError{errors.New("fill takes one new data directory, and at least one of everything")}
	}
	g := &generator{size: want, folder: flags.Arg(0), random: rand.New(rand.NewPCG(0, 0)), say: func(format string, args ...any) {
		_, _ = fmt.Fprintf(stderr, format+"\n", args...)
	}}
	return g.run(ctx)
}

// generator fills one data directory.
type generator struct {
	size
	folder string
	say    func(format string, args ...any)

	meta   *bolt.Store
	files  *directory.Store
	repo   *repository.Service
	caller auth.Principal
	spaces []metadata.ID
	homes  []metadata.Set // the sets
	kept   []blobs.Digest
	random *rand.Rand
}

func (g *generator) run(ctx context.Context) (err error) {
	if err := os.Mkdir(g.folder, 0o700); err != nil {
		return err
	}
	if g.meta, err = bolt.Open(filepath.Join(g.folder, "meta.db"), bolt.Options{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.meta.Close()) }()
	if g.files, err = directory.Open(g.folder, directory.OS{}); err != nil {
		return err
	}
	g.repo = repository.New(g.meta, g.files, repository.Config{})
	defer g.repo.Close()
	for _, part := range []func(context.Context) error{g.makeCaller, g.makeSets, g.makeBodies, g.makeResources} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (g *generator) makeCaller(ctx context.Context) error {
	key, err := g.repo.Users.Bootstrap(ctx, "")
	if err != nil {
		return err
	}
	if g.caller, err = g.repo.Credentials.Authenticate(ctx, key, auth.Origin{}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(g.folder, e2e.KeyFile), []byte(key+"\n"), 0o600)
}

func (g *generator) makeSets(ctx context.Context) error {
	for i := range g.dataspaces {
		made, err := g.repo.Dataspaces.Create(ctx, g.caller, containers.NewDataspace{Name: fmt.Sprintf("dataspace-%d", i)})
		if err != nil {
			return err
		}
		g.spaces = append(g.spaces, made.ID)
	}
	for i := range g.sets {
		set, err := g.repo.Sets.Create(ctx, g.caller, containers.NewSet{Name: fmt.Sprintf("set-%d", i), DataspaceID: g.spaces[i%len(g.spaces)].String()})
		if err != nil {
			return err
		}
		g.homes = append(g.homes, set)
	}
	return nil
}

// makeBodies stores the bodies. put adds their rows with the first resources.
func (g *generator) makeBodies(ctx context.Context) error {
	const writers = 16
	g.kept = make([]blobs.Digest, g.bodies)
	return parallel(writers, func(first int) error {
		content := body(smallFile, 0)
		for i := first; i < g.bodies; i += writers {
			stamp(content, uint64(i))
			staged, err := g.files.Stage(ctx, bytes.NewReader(content), 0)
			if err != nil {
				return err
			}
			g.kept[i] = staged.Content().Digest
			_, err = staged.Commit(ctx)
			if err := errors.Join(err, staged.Discard()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *generator) makeResources(ctx context.Context) error {
	begun, said := time.Now(), time.Now()
	for done := 0; done < g.resources; {
		left := g.resources - done
		n := min(left, max(leastInCommit, min(mostInCommit, left/20)))
		if err := g.meta.Update(ctx, func(tx *metadata.Tx) error { return g.put(tx, done, n) }); err != nil {
			return err
		}
		done += n
		if time.Since(said) > 5*time.Second || done == g.resources {
			said = time.Now()
			g.say("%d resources, %.0f/s", done, float64(done)/time.Since(begun).Seconds())
		}
	}
	stats, err := g.meta.Stats()
	g.say("the metadata have %d bytes, %d of them free", stats.Bytes, stats.FreePages*stats.PageSize)
	return err
}

// put adds n resources, beginning with number first, and all other rows that uploads would add.
func (g *generator) put(tx *metadata.Tx, first, n int) error {
	changes := map[metadata.ID]metadata.Counters{}
	var last metadata.Stamp
	for i := first; i < first+n; i++ {
		set, digest := g.homes[i%len(g.homes)], g.kept[g.random.IntN(len(g.kept))]
		if i < len(g.kept) {
			digest = g.kept[i]
			if err := tx.Blobs.Put(blobs.Blob{Digest: digest, Size: smallFile}); err != nil {
				return err
			}
		}
		last = tx.Stamp()
		name := filenameOf(uint64(i))
		err := tx.Resources.Put(metadata.Resource{
			Record: metadata.Record{ID: metadata.NewID(last), State: metadata.Active, Created: last, Modified: last,
				CreatedBy: g.caller.UserID, ModifiedBy: g.caller.UserID},
			SetID: set.ID, DataspaceID: set.DataspaceID, Name: name, Filename: name, Format: "DAT",
			MimeType: "application/octet-stream", Digest: digest, Bytes: smallFile,
		})
		if err != nil {
			return err
		}
		change := changes[set.DataspaceID]
		change.ActiveFiles++
		change.ActiveBytes += smallFile
		changes[set.DataspaceID] = change
	}
	for dataspace, change := range changes {
		counters, err := tx.Usage.Get(dataspace)
		if err != nil {
			return err
		}
		counters.ActiveFiles += change.ActiveFiles
		counters.ActiveBytes += change.ActiveBytes
		if err := tx.Usage.Put(dataspace, last.Day(), counters); err != nil {
			return err
		}
	}
	used, err := tx.UserUsage.Get(g.caller.UserID)
	if err = errs.Ignore(err, metadata.ErrNotFound); err != nil {
		return err
	}
	return tx.UserUsage.Put(metadata.UserUsage{UserID: g.caller.UserID, Bytes: used.Bytes + int64(n)*smallFile})
}
