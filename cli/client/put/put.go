// Package put uploads files and folders to a set. It sends only new content, and large files in
// chunks, which another run can resume.
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

// Options control how files are uploaded.
type Options struct {
	report.Output
	In                  io.Reader // standard input
	Name                string    // of the resource, for a single source; "": the name of the file
	Under               string    // a folder in front of every name, or ""
	Description, Format string    // of every resource
	Exclude             []string  // patterns of files and folders to leave out
	Parallel            int       // files to send at a time
	NewSet              bool      // create the set if it does not exist
	Dry                 bool      // change nothing
}

// Run uploads the sources to the set that ref names. A source is a file, a folder, or "-" alone for
// standard input. Errors: exit.ErrPartly, exit.ErrInterrupted, exit.ErrUsage, errors of the
// service.
func Run(ctx context.Context, c *client.Client, o Options, sources []string, ref string) error {
	if err := o.check(sources, ref); err != nil {
		return err
	}
	set, readable, err := o.set(ctx, c, ref)
	if err != nil {
		return exit.Interrupted(ctx, err, storedStays)
	}
	u := &job{client: c, set: set, readable: readable, uploads: resumption.Stored(), parallel: o.Parallel, dry: o.Dry, meter: o.NewMeter("put"),
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
			return exit.Interrupted(ctx, fmt.Errorf("standard input cannot be stored in a temporary file (TMPDIR sets the folder): %w", err), storedStays)
		}
		defer func() { _ = os.Remove(copied) }() // the system empties the folder for temporary files
		w.add(localFile{path: "-", copy: copied, name: o.Under + o.Name, filename: path.Base(o.Name), size: bytes})
	} else if err := w.arguments(ctx, sources); err != nil {
		return exit.Interrupted(ctx, err, storedStays)
	}
	for _, file := range w.files {
		u.meter.Expect(1, file.size)
	}
	list := u.list
	if !readable {
		list = u.listSent
	}
	if u.existing, err = list(ctx, w.named); err != nil {
		return exit.Interrupted(ctx, err, storedStays)
	}
	w.distinct(u.existing)
	over := u.run(ctx, w.files)
	if over == nil && u.readable {
		over = u.deleteDuplicates(ctx, w.named)
	}
	return u.finish(ctx, len(w.files)-int(u.reported.Load()), over)
}

// finish writes the report and returns the error of the run. left is the number of files that were
// not tried; over is the reason for an early end.
func (u *job) finish(ctx context.Context, left int, over error) error {
	reportErr := u.report.End(left)
	done, lost := u.report.Done(), u.report.Counts[report.Failed].Files
	switch {
	case over != nil && done > 0 && ctx.Err() == nil:
		return fmt.Errorf("%w; the same command resumes from here", over)
	case over != nil:
		return exit.Interrupted(ctx, over, storedStays)
	case reportErr != nil:
		return fmt.Errorf("the files are uploaded, but the report could not be written: %w", reportErr)
	case lost > 0 && done == 0:
		return errors.New("nothing was stored, for the reasons above")
	case lost > 0:
		return fmt.Errorf("%w: %s of %d; the reasons are above, and the same command tries only these again", exit.ErrPartly, display.Files(lost), lost+done)
	}
	return nil
}

// storedStays says after an interruption why put can be run again.
const storedStays = "stored files are not sent again"

// set returns the set, and creates it if the options require that. readable is false if the key may
// only add files: then the set has only its id.
func (o *Options) set(ctx context.Context, c *client.Client, ref string) (s client.Set, readable bool, err error) {
	found := true
	if o.NewSet {
		s, err = o.findOrMakeSet(ctx, c, ref)
	} else if s, found, err = reference.LookupSet(ctx, c, ref, client.Active); err == nil && !found {
		_, here := os.Lstat(ref)
		err = reference.NotFound(ctx, c, ref, "a set", "\"labshelf set ls\" lists them"+putAdvice(ref, here == nil))
	}
	if err == nil && s.State == client.Deleted {
		err = fmt.Errorf("the set %s is deleted; restore it first, with: labshelf restore --set %s", display.Printable(s.Name), s.ID)
	}
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Code != "key_limited" {
		return s, true, err
	}
	id, ok := reference.SetID(ref)
	if !ok {
		return s, false, fmt.Errorf("%w\nif the key may only add files, give the id of the set instead of its name", err)
	}
	return client.Set{ID: id}, false, nil
}

// putAdvice suggests what ref may have meant if no such set exists. here: a local file has that
// name.
func putAdvice(ref string, here bool) string {
	switch space, name, in := strings.Cut(ref, "/"); {
	case here:
		return "\na local file or folder has that name: the set is the last argument"
	case in && space != "" && name != "":
		return "\n--new-set creates it"
	}
	return fmt.Sprintf("\n\"labshelf set new DATASPACE/%s\" creates it", ref)
}

// findOrMakeSet returns the set. In a dry run a set that would be created has no id.
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
	if errors.As(err, &problem) && problem.Code == "set_name_taken" { // another client created it, or an earlier request whose response was lost
		if now, found, lookErr := reference.LookupSet(ctx, c, ref, client.Active); found && lookErr == nil {
			return now, nil
		}
	}
	return s, err
}

// spool copies a stream to a temporary file, which the caller removes. put reads the file twice, to
// compare it and to send it.
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
	go func() { // the end of the context does not end a read
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
		return exit.Usagef("- is standard input, and must be the only source; a file of that name is ./-")
	case stdin && o.Name == "":
		return exit.Usagef("standard input has no name; set one with --name")
	case o.Name != "" && !single:
		return exit.Usagef("--name is for a single file; for a folder, use --under")
	case o.NewSet && (!hasDataspace || name == ""):
		return exit.Usagef("with --new-set, SET must be DATASPACE/NAME, such as lab-one/runs-2026, not %q", set)
	}
	for _, pattern := range o.Exclude {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return exit.Usagef("--exclude: %q is not a pattern; * matches anything, ? one character, [a-c] one of these characters", pattern)
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
