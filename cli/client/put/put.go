// Package put sends files and folders into a set: only what is new there, and large files in chunks
// that another run goes on with.
package put

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"labshelf/cli/client/reference"
	"labshelf/cli/client/report"
	"labshelf/cli/client/resumption"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/client"
)

// Options say what becomes of files.
type Options struct {
	report.Output
	In                  io.Reader // standard input
	Name                string    // of the resource, for one source alone; "": that of the file
	Under               string    // a folder in front of every name, or ""
	Description, Format string    // of every resource
	Exclude             []string  // patterns of files and folders to leave out
	Parallel            int       // files to send at once
	NewSet              bool      // the set is made if there is none
	Dry                 bool      // nothing is changed
}

// Run puts what sources name into the set that ref names. A source is a file, a folder, or "-"
// alone for standard input. Errors: exit.ErrPartly, exit.ErrInterrupted, exit.ErrUsage, those of
// the service.
func Run(ctx context.Context, c *client.Client, o Options, sources []string, ref string) error {
	if err := o.check(sources, ref); err != nil {
		return err
	}
	set, err := o.set(ctx, c, ref)
	if err != nil {
		return exit.Interrupted(ctx, err, storedStays)
	}
	u := &job{client: c, set: set, uploads: resumption.Stored(), parallel: o.Parallel, dry: o.Dry, meter: o.NewMeter("put"),
		created: map[string]created{}, fields: client.NewResource{Description: o.Description, Format: o.Format}}
	defer u.meter.Close()
	words := report.Wording{
		{report.Sent, "sent", true}, {report.Replaced, "replaced", true}, {report.Present, "already there", true}, {report.Skipped, "left out", false}, {report.Failed, "failed", false},
	}
	if o.Dry {
		words[0].Words, words[1].Words = "would send", "would replace"
	}
	u.report = report.New(o.Output, u.meter, words, "there is no file to put")
	u.report.Dry = o.Dry
	w := walk{under: o.Under, name: o.Name, exclude: o.Exclude, named: map[string]string{}, skip: func(path string, became report.Outcome, why error) {
		u.report.Tell(report.Result{Path: path, Outcome: became, Why: why})
	}}
	if sources[0] == "-" {
		copied, bytes, err := spool(ctx, o.In)
		if err != nil {
			return exit.Interrupted(ctx, fmt.Errorf("keep standard input in a temporary file (TMPDIR says where): %w", err), storedStays)
		}
		defer func() { _ = os.Remove(copied) }() // it is in the folder for temporary files anyway
		w.add(localFile{path: "-", copy: copied, name: o.Under + o.Name, filename: path.Base(o.Name), size: bytes})
	} else if err := w.arguments(ctx, sources); err != nil {
		return exit.Interrupted(ctx, err, storedStays)
	}
	for _, file := range w.files {
		u.meter.Expect(1, file.size)
	}
	if u.existing, err = u.list(ctx, w.named); err != nil {
		return exit.Interrupted(ctx, err, storedStays)
	}
	w.distinct(u.existing)
	over := u.run(ctx, w.files)
	if over == nil {
		over = u.deleteDuplicates(ctx, w.named)
	}
	return u.finish(ctx, len(w.files)-int(u.reported.Load()), over)
}

// finish writes the report and returns the error of the run. left counts the files that were not
// tried; over is why the run ended early.
func (u *job) finish(ctx context.Context, left int, over error) error {
	reportErr := u.report.End(left)
	done, lost := u.report.Done(), u.report.Counts[report.Failed].Files
	switch {
	case over != nil && done > 0 && ctx.Err() == nil:
		return fmt.Errorf("%w; the same command goes on from here", over)
	case over != nil:
		return exit.Interrupted(ctx, over, storedStays)
	case reportErr != nil:
		return fmt.Errorf("all is done, but the report could not be written: %w", reportErr)
	case lost > 0 && done == 0:
		return errors.New("nothing was stored, for the reasons above")
	case lost > 0:
		return fmt.Errorf("%w: %s of %d; the reasons are above, and the same command tries only these again", exit.ErrPartly, display.Files(lost), lost+done)
	}
	return nil
}

// storedStays tells after an interruption why put can be run again.
const storedStays = "what is stored is not sent again"

// set returns the set, which it makes where that is asked for.
func (o *Options) set(ctx context.Context, c *client.Client, ref string) (s client.Set, err error) {
	found := true
	if o.NewSet {
		s, err = o.findOrMakeSet(ctx, c, ref)
	} else if s, found, err = reference.LookupSet(ctx, c, ref, client.Active); err == nil && !found {
		_, here := os.Lstat(ref)
		err = reference.NotFound(ctx, c, ref, "a set", "\"labshelf set ls\" lists them"+putAdvice(ref, here == nil))
	}
	if err == nil && s.State == client.Deleted {
		err = fmt.Errorf("the set %s is deleted; bring it back first, with: labshelf restore --set %s", display.Printable(s.Name), s.ID)
	}
	return s, err
}

// putAdvice suggests what ref may have meant, where there is no such set. here: a local file has
// that name.
func putAdvice(ref string, here bool) string {
	switch space, name, in := strings.Cut(ref, "/"); {
	case here:
		return "\nhere is a file or folder of that name: the set comes last"
	case in && space != "" && name != "":
		return "\n--new-set makes it"
	}
	return fmt.Sprintf("\n\"labshelf set new DATASPACE/%s\" makes it", ref)
}

// findOrMakeSet returns the set. In a dry run one that would be made has no id.
func (o *Options) findOrMakeSet(ctx context.Context, c *client.Client, ref string) (client.Set, error) {
	s, found, err := reference.LookupSet(ctx, c, ref, client.Active)
	if found || err != nil {
		return s, err
	}
	space, name, _ := strings.Cut(ref, "/")
	d, err := reference.FindDataspace(ctx, c, space, client.Active)
	if err != nil || o.Dry {
		return client.Set{}, err
	}
	s, err = c.Sets.Create(ctx, client.NewSet{Name: name, DataspaceID: d.ID})
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Code == "set_name_taken" { // by another client, or by a request whose answer was lost
		if now, found, lookErr := reference.LookupSet(ctx, c, ref, client.Active); found && lookErr == nil {
			return now, nil
		}
	}
	return s, err
}

// spool copies a stream into a temporary file, which the caller removes: it has to be read twice,
// to compare and to send it.
func spool(ctx context.Context, in io.Reader) (path string, bytes int64, err error) {
	file, err := os.CreateTemp("", "labshelf-put-*")
	if err != nil {
		return "", 0, err
	}
	type copied struct {
		bytes int64
		error
	}
	ended, got := make(chan copied, 1), copied{}
	go func() { // a read does not end with the context
		n, err := io.Copy(file, in)
		ended <- copied{n, err}
	}()
	select {
	case got = <-ended:
	case <-ctx.Done():
		got.error = ctx.Err()
	}
	if err = errors.Join(got.error, file.Close()); err != nil {
		return "", 0, errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), got.bytes, nil
}

// check validates the options.
func (o *Options) check(sources []string, set string) error {
	stdin := slices.Contains(sources, "-")
	info, err := os.Stat(sources[0])
	single := len(sources) == 1 && !(err == nil && info.IsDir())
	_, name, hasDataspace := strings.Cut(set, "/")
	switch {
	case stdin && len(sources) > 1:
		return exit.Usagef("- is standard input, and goes alone; a file of that name is ./-")
	case stdin && o.Name == "":
		return exit.Usagef("standard input has no name; give it one with --name")
	case o.Name != "" && !single:
		return exit.Usagef("--name is for one file; for a folder, --under says where it goes")
	case o.NewSet && (!hasDataspace || name == ""):
		return exit.Usagef("with --new-set, SET must be DATASPACE/NAME, such as lab-one/runs-2026, not %q", set)
	}
	for _, pattern := range o.Exclude {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return exit.Usagef("--exclude: %q is no pattern; * stands for anything, ? for one character, [a-c] for one of these", pattern)
		}
	}
	if o.Under = strings.Trim(filepath.ToSlash(o.Under), "/"); o.Under != "" {
		o.Under += "/"
	}
	for flag, name := range map[string]string{"--under": strings.TrimSuffix(o.Under, "/"), "--name": o.Name} {
		if err := reference.CheckName(flag, name); name != "" && err != nil {
			return err
		}
	}
	return nil
}
