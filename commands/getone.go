package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"labshelf/client"
)

// A file that is arriving is called partialPrefix, the id of its resource, the digest, partialSuffix.
const (
	partialPrefix = ".labshelf-"
	partialSuffix = ".part"
)

func partialName(w wanted) string {
	return partialPrefix + w.id + "-" + w.digest.String() + partialSuffix
}

// findPartials looks for what earlier runs have left.
func (g *getting) findPartials() error {
	g.partials = map[string][]string{}
	folder, err := g.root.Open(".")
	if err != nil {
		return err
	}
	names, err := folder.Readdirnames(-1)
	for _, name := range names {
		rest, prefixed := strings.CutPrefix(name, partialPrefix)
		rest, suffixed := strings.CutSuffix(rest, partialSuffix)
		if at := strings.LastIndexByte(rest, '-'); prefixed && suffixed && at > 0 {
			g.partials[rest[:at]] = append(g.partials[rest[:at]], name)
		}
	}
	return errors.Join(err, folder.Close())
}

// The outcomes of get, beside those of put.
const (
	fetched outcome = "fetched"
	gone    outcome = "gone" // deleted since it was listed
)

// getWords are the words of its report.
func getWords() wording {
	return wording{{fetched, "fetched", true}, {replaced, "replaced", true}, {there, "already there", true}, {gone, "deleted meanwhile", false}, {failed, "failed", false}}
}

// get gets one file and tells what became of it. Its error is one of all the others, too.
func (g *getting) get(ctx context.Context, o one) error {
	became, err := g.bring(ctx, &o)
	if err != nil && (ctx.Err() != nil || !onlyThis(err) && !isRefusal(err)) {
		return err
	}
	if err != nil {
		became = failed
	}
	g.meter.finished(1)
	g.told.Add(1)
	if became != failed && became != gone {
		g.got(o, became)
	}
	g.report.tell(result{local: local{path: g.here(o), name: o.name}, outcome: became, id: o.id, bytes: o.bytes, digest: o.digest, why: err})
	return nil
}

// mostRenamed is how many files of another name than their resource are named one by one.
const mostRenamed = 20

// got notes that a file is here, and tells of one that has just come under another name.
func (g *getting) got(o one, became outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.present = append(g.present, o)
	if !o.renamed() {
		return
	}
	if g.ofSet {
		g.report.renamed++
	}
	if became != there {
		if g.renamed++; g.renamed <= mostRenamed {
			g.meter.say(fmt.Sprintf("%s: the name of the resource is %s", printable(g.here(o)), printable(o.name)))
		}
	}
}

// here is where a file is, as people of this system write it.
func (g *getting) here(o one) string { return filepath.Join(g.dir, filepath.FromSlash(o.path)) }

// refusal is a reason not to write one file.
type refusal struct{ error }

func isRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

func refusef(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

// finish tells how it went. over is why it ended early.
func (g *getting) finish(files int, over error) error {
	if more := g.renamed - mostRenamed; more > 0 {
		g.meter.say(fmt.Sprintf("%s more have other names than their resources", fileCount(more)))
	}
	unheard := g.report.end(files - int(g.told.Load()))
	lost := g.report.counts[failed].Files
	switch {
	case over != nil:
		return fmt.Errorf("%w; the same command goes on from here", over)
	case unheard != nil:
		return fmt.Errorf("all is done, but cannot be told: %w", unheard)
	case lost > 0 && lost == files:
		return errors.New("nothing was got, for the reasons above")
	case lost > 0:
		return fmt.Errorf("%w: %s of %d; the reasons are above, and the same command tries only these again", ErrPartly, fileCount(lost), files)
	}
	return nil
}

// bring sees to it that a file is there. Of one that is replaced meanwhile it gets the new content, under the path that it was
// listed with, and o becomes that.
func (g *getting) bring(ctx context.Context, o *one) (outcome, error) {
	for try := 1; ; try++ {
		same, other, err := g.compare(ctx, *o)
		if same || err != nil {
			g.meter.skipped(o.bytes)
			g.forget(o.id, "")
			return there, err
		}
		g.forget(o.id, partialName(o.wanted))
		err = g.fetch(ctx, o.wanted, partialName(o.wanted))
		if err == nil && other {
			return replaced, g.place(*o)
		}
		if err == nil {
			return fetched, g.place(*o)
		}
		if !errors.Is(err, errReplaced) || try == fetchTries {
			return failed, err
		}
		r, err := g.client.Resource(ctx, o.id)
		if err != nil {
			return failed, err
		}
		if r.State == client.Deleted {
			return gone, nil
		}
		g.meter.expect(0, r.Bytes-o.bytes)
		o.wanted = wantedOf(r)
	}
}

// compare tells whether the file is there already, or another one that may be replaced. That it may not is an error.
func (g *getting) compare(ctx context.Context, o one) (same, other bool, err error) {
	info, err := g.root.Lstat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, refusal{err}
	case !info.Mode().IsRegular():
		return false, false, refusef("there is something of this name that is no file; move it away")
	}
	if info.Size() == o.bytes {
		digest, err := digestOf(ctx, g.root, o.path)
		if err != nil {
			return false, false, refusal{err}
		}
		same = digest == o.digest
	}
	if !same && !g.force {
		return false, false, refusef("there is a file of this name with other content; move it away, or replace it with --force")
	}
	return same, !same, nil
}

// forget removes what earlier runs have left of a resource, but for what is current.
func (g *getting) forget(id, current string) {
	for _, name := range g.partials[id] {
		if name == current {
			continue
		}
		if file, err := g.open(name); err == nil { // else another process is getting it, or the next run removes it
			removed := g.root.Remove(name)
			_ = unlock(file)
			if removed != nil { // Windows removes nothing that is open
				_ = g.root.Remove(name)
			}
		}
	}
}

// place gives a file that has arrived its name.
func (g *getting) place(o one) error {
	if folder := path.Dir(o.path); folder != "." {
		if err := g.root.MkdirAll(folder, 0o777); err != nil {
			return refusef("the folder cannot be made: %w", err)
		}
	}
	arrived := partialName(o.wanted)
	if !g.force {
		err := g.root.Link(arrived, o.path) // unlike a rename it takes no place that another process has just taken
		switch {
		case err == nil:
			return disk(g.root.Remove(arrived))
		case errors.Is(err, fs.ErrExist):
			return errTaken
		}
		if _, err := g.root.Lstat(o.path); !errors.Is(err, fs.ErrNotExist) { // file systems without links
			return errTaken
		}
	}
	if err := g.root.Rename(arrived, o.path); err != nil {
		return refusal{err}
	}
	return nil
}

var errTaken = refusef("there is a file of this name now; move it away, or replace it with --force")
