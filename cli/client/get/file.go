package get

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"labshelf/cli/client/fetch"
	"labshelf/cli/client/report"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// partialPrefix begins the name of a partial file; the id of its resource, the digest and the
// suffix follow.
const partialPrefix = ".labshelf-"

func partialName(w fetch.File) string {
	return partialPrefix + w.ID + "-" + w.Digest.String() + fetch.PartialSuffix
}

// findPartials lists the partial files of earlier runs.
func (g *job) findPartials() error {
	g.partials = map[string][]string{}
	folder, err := g.Root.Open(".")
	if err != nil {
		return err
	}
	names, err := folder.Readdirnames(-1)
	for _, name := range names {
		rest, prefixed := strings.CutPrefix(name, partialPrefix)
		rest, suffixed := strings.CutSuffix(rest, fetch.PartialSuffix)
		if at := strings.LastIndexByte(rest, '-'); prefixed && suffixed && at > 0 {
			g.partials[rest[:at]] = append(g.partials[rest[:at]], name)
		}
	}
	return errors.Join(err, folder.Close())
}

// The outcomes that only get uses.
const (
	fetched report.Outcome = "fetched"
	gone    report.Outcome = "gone" // deleted since the listing
)

// getWords has the words for the outcomes.
func getWords() report.Wording {
	return report.Wording{{fetched, "fetched", true}, {report.Replaced, "replaced", true}, {report.Present, "already there", true}, {gone, "deleted meanwhile", false}, {report.Failed, "failed", false}}
}

// get downloads one file and reports its outcome. It returns only errors that affect all files.
func (g *job) get(ctx context.Context, o file) error {
	became, err := g.ensure(ctx, &o)
	if err != nil && (ctx.Err() != nil || !fetch.ConcernsOneFile(err) && !isRefusal(err)) {
		return err
	}
	if err != nil {
		became = report.Failed
	}
	g.Meter.Finished(1)
	g.reported.Add(1)
	if became != report.Failed && became != gone {
		g.noteFetched(o, became)
	}
	g.report.Tell(report.Result{Path: g.localPath(o), Name: o.name, Outcome: became, ID: o.ID, Bytes: o.Bytes, Digest: o.Digest, Why: err})
	return nil
}

// mostRenamed bounds the list of files whose names differ from the resource's.
const mostRenamed = 20

// noteFetched records that a file is in place, and reports a new one with another name.
func (g *job) noteFetched(o file, became report.Outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.present = append(g.present, o)
	if !o.renamed() || g.named {
		return
	}
	if g.ofSet {
		g.report.Renamed++
	}
	if became != report.Present {
		if g.renamed++; g.renamed <= mostRenamed {
			g.Meter.Say(fmt.Sprintf("%s: the name of the resource is %s", display.Printable(g.localPath(o)), display.Printable(o.name)))
		}
	}
}

// localPath returns the path of a file in the form of this system.
func (g *job) localPath(o file) string { return filepath.Join(g.folder, filepath.FromSlash(o.path)) }

// refusal is an error that affects one file only.
type refusal struct{ error }

func isRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

func refusef(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

// finish writes the report and returns the error of the run. over is the reason for an early end.
func (g *job) finish(files int, over error) error {
	if more := g.renamed - mostRenamed; more > 0 {
		g.Meter.Say(fmt.Sprintf("files saved under other names, but not listed here: %d", more))
	}
	reportErr := g.report.End(files - int(g.reported.Load()))
	lost := g.report.Counts[report.Failed].Files
	switch {
	case over != nil:
		return fmt.Errorf("%w; the same command resumes from here", over)
	case reportErr != nil:
		return fmt.Errorf("the files are downloaded, but the report could not be written: %w", reportErr)
	case lost > 0 && lost == files:
		return errors.New("nothing was downloaded, for the reasons above")
	case lost > 0:
		return fmt.Errorf("%w: %s of %d; the reasons are above, and the same command tries only these again", exit.ErrPartly, display.Files(lost), files)
	}
	return nil
}

// ensure downloads a file unless it is in place. If the resource is replaced in the meantime,
// ensure reads it again, into o, and writes the new content to the listed path.
func (g *job) ensure(ctx context.Context, o *file) (report.Outcome, error) {
	for try := 1; ; try++ {
		same, other, err := g.compare(ctx, *o)
		if same || err != nil {
			g.Meter.Skipped(o.Bytes)
			g.removePartials(o.ID, "")
			return report.Present, err
		}
		g.removePartials(o.ID, partialName(o.File))
		err = g.Fetch(ctx, o.File, partialName(o.File))
		if err == nil && other {
			return report.Replaced, g.finalize(*o)
		}
		if err == nil {
			return fetched, g.finalize(*o)
		}
		if !errors.Is(err, fetch.ErrReplaced) || try == fetch.Tries || o.Version != 0 {
			return report.Failed, err
		}
		r, err := g.Client.Resources.Get(ctx, o.ID)
		if err != nil {
			return report.Failed, err
		}
		if r.State == client.Deleted {
			return gone, nil
		}
		g.Meter.Expect(0, r.Bytes-o.Bytes)
		o.File = fetch.FileOf(r)
	}
}

// compare reports whether the file is in place already, or another file that may be replaced. A
// file that must not be replaced is an error.
func (g *job) compare(ctx context.Context, o file) (same, other bool, err error) {
	info, err := g.Root.Lstat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, refusal{err}
	case !info.Mode().IsRegular():
		return false, false, refusef("the name is taken by something that is not a file; move it away")
	}
	if info.Size() == o.Bytes {
		digest, err := fetch.Digest(ctx, g.Root, o.path)
		if err != nil {
			return false, false, refusal{err}
		}
		same = digest == o.Digest
	}
	if !same && !g.Force {
		return false, false, refusef("a file with this name has other content; move it away, or replace it with --force")
	}
	return same, !same, nil
}

// removePartials removes the partial files of a resource, except current.
func (g *job) removePartials(id, current string) {
	for _, name := range g.partials[id] {
		if name == current {
			continue
		}
		if file, err := g.OpenPartial(name); err == nil { // otherwise another process is writing it, or the next run removes it
			removed := g.Root.Remove(name)
			_ = fetch.Unlock(file)
			if removed != nil { // Windows cannot remove an open file
				_ = g.Root.Remove(name)
			}
		}
	}
}

// finalize gives a complete file its name.
func (g *job) finalize(o file) error {
	if folder := path.Dir(o.path); folder != "." {
		if err := g.Root.MkdirAll(folder, 0o777); err != nil {
			return refusef("the folder cannot be created: %w", err)
		}
	}
	arrived := partialName(o.File)
	if !g.Force {
		err := g.Root.Link(arrived, o.path) // unlike a rename, a link does not replace a file that another process has just created
		switch {
		case err == nil:
			return fetch.DiskError(g.Root.Remove(arrived))
		case errors.Is(err, fs.ErrExist):
			return errExists
		}
		if _, err := g.Root.Lstat(o.path); !errors.Is(err, fs.ErrNotExist) { // the file system has no links
			return errExists
		}
	}
	if err := g.Root.Rename(arrived, o.path); err != nil {
		return refusal{err}
	}
	return nil
}

var errExists = refusef("a file with this name exists now; move it away, or replace it with --force")
