package commands

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

	"github.com/spf13/cobra"

	"labshelf/client"
)

// mostParallel is how many files may be sent at once: more make no service faster.
const mostParallel = 16

// putFlags are the flags of put.
type putFlags struct {
	name, under         string
	description, format string
	exclude             []string
	parallel            int
	newSet              bool
	dry, asJSON         bool
}

func putCommand(p Process) *cobra.Command {
	var f putFlags
	cmd := &cobra.Command{
		Use:   "put FILE|DIR... SET",
		Short: "Put files and folders into a set",
		Long: `put sends files into a set, and from a folder all that is in it. The name of a
resource is that of the file, or its path below the folder: put data sends
data/2026/a.csv as 2026/a.csv.

What the set has already, with the same name and the same bytes, is not sent
again, unless the service knows its file to be damaged. What has the name but
other bytes is replaced, and keeps its description and format unless others are
given; if somebody has changed it since put began, it is left alone, and you are
told. So put can be run again at any time, when it was interrupted or files were
added: it sends only what is new. What is gone here stays in the set.

A file of more than 16 MiB goes on where it stopped, when the connection breaks
and when put is run again, for as long as the service keeps what has come: 7
days after the last of it, unless it is set up otherwise.

Symbolic links in folders, and whatever else is no file, are left out, named and
counted by kind; a link that is an argument is followed. What --exclude names is
left out in silence: a PATTERN with a / in it is the path below the folder, one
without the last part of it, of files and folders. So are .DS_Store, Thumbs.db,
desktop.ini, the files that get keeps for itself (.labshelf-…) and folders with
nothing in them. What get has called otherwise gets the name of its resource.

A file that cannot be read, or that changes while it is read, is told and not
stored; the others are. What concerns every file, such as a full disk of the
service, ends put with exit code 1: the files that were tried are named, and the
others counted. With - in place of files, standard input becomes the resource
--name; until it is sent it is kept in a temporary file.

SET is the name, id or URL of a set, or DATASPACE/NAME. put ends with a report.
With --json each file is a line with its "outcome" (sent, replaced, there,
skipped or failed; a file may come again with another one), and the last line
has the sums, as "end".`,
		Example: `  labshelf put run-1.csv run-2.csv runs-2026
  labshelf put /data/microscope lab-one/images --new-set --exclude '*.tmp'
  labshelf put D:\data\today runs-2026 --under 2026-11-22
  mysqldump lab | gzip | labshelf put - backups --name lab.sql.gz`,
		Args:        atLeast(2, "files or folders, and then the set to put them into"),
		Annotations: p.ExitCodes(6, 130),
	}
	cmd = p.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		sources, set := args[:len(args)-1], args[len(args)-1]
		if err := f.check(sources, set); err != nil {
			return err
		}
		return p.put(ctx, c, f, sources, set)
	})
	f.define(cmd)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) (sets []cobra.Completion, files cobra.ShellCompDirective) {
		if len(args) > 0 {
			sets, _ = p.ask(cmd, setsIn(client.Active), typed)
		}
		return sets, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// define defines the flags.
func (f *putFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "`NAME` of the resource, for one file or -")
	flags.StringVar(&f.under, "under", "", "`FOLDER` to put in front of every name, such as 2026/run-7")
	flags.StringVar(&f.description, "description", "", "`TEXT` to describe each of the files")
	flags.StringVar(&f.format, "format", "", "`FORMAT` of each of the files, such as CSV (default: from their names)")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "`PATTERN` of files and folders to leave out, such as '*.tmp' or raw/old; may be repeated")
	flags.BoolVar(&f.newSet, "new-set", false, "make the set if there is none; SET is DATASPACE/NAME then")
	flags.BoolVar(&f.dry, "dry-run", false, "change nothing; show what would be sent and replaced")
	parallelFlag(cmd, &f.parallel, "send", sendAtOnce)
	jsonFlag(cmd, &f.asJSON)
}

// check holds the flags against the arguments.
func (f *putFlags) check(sources []string, set string) error {
	stdin := slices.Contains(sources, "-")
	info, err := os.Stat(sources[0])
	single := len(sources) == 1 && !(err == nil && info.IsDir())
	_, name, hasDataspace := strings.Cut(set, "/")
	switch {
	case stdin && len(sources) > 1:
		return usagef("- is standard input, and goes alone; a file of that name is ./-")
	case stdin && f.name == "":
		return usagef("standard input has no name; give it one with --name")
	case f.name != "" && !single:
		return usagef("--name is for one file; for a folder, --under says where it goes")
	case checkParallel(f.parallel) != nil:
		return checkParallel(f.parallel)
	case f.newSet && (!hasDataspace || name == ""):
		return usagef("with --new-set, SET must be DATASPACE/NAME, such as lab-one/runs-2026, not %q", set)
	}
	for _, pattern := range f.exclude {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return usagef("--exclude: %q is no pattern; * stands for anything, ? for one character, [a-c] for one of these", pattern)
		}
	}
	if f.under = strings.Trim(filepath.ToSlash(f.under), "/"); f.under != "" {
		f.under += "/"
	}
	return nil
}

// put puts what sources name into a set.
func (p Process) put(ctx context.Context, c *client.Client, f putFlags, sources []string, ref string) error {
	set, err := f.set(ctx, c, ref)
	if err != nil {
		return interrupted(ctx, err, storedStays)
	}
	u := &putting{client: c, set: set, begun: begunUploads(), parallel: f.parallel, dry: f.dry, meter: p.newMeter("put"),
		made: map[string]made{}, fields: client.NewResource{Description: f.description, Format: f.format}}
	defer u.meter.Close()
	u.report = &report{p: p, meter: u.meter, asJSON: f.asJSON, dry: f.dry, counts: map[outcome]tally{}, none: "there is no file to put", wording: wording{
		{sent, "sent", true}, {replaced, "replaced", true}, {there, "already there", true}, {leftOut, "left out", false}, {failed, "failed", false},
	}}
	if f.dry {
		u.report.wording[0].words, u.report.wording[1].words = "would send", "would replace"
	}
	w := walk{under: f.under, name: f.name, exclude: f.exclude, named: map[string]string{}, leave: func(path string, o outcome, why error) {
		u.report.tell(result{local: local{path: path}, outcome: o, why: why})
	}}
	if sources[0] == "-" {
		copied, err := p.spool(ctx)
		if err != nil {
			return interrupted(ctx, err, storedStays)
		}
		defer func() { _ = os.Remove(copied.copy) }() // it is in the folder for what may be lost
		copied.name, copied.filename = f.under+f.name, path.Base(f.name)
		w.add(copied)
	} else if err := w.arguments(ctx, sources); err != nil {
		return interrupted(ctx, err, storedStays)
	}
	for _, file := range w.files {
		u.meter.expect(1, file.size)
	}
	if u.held, err = u.list(ctx, w.named); err != nil {
		return interrupted(ctx, err, storedStays)
	}
	w.distinct(u.held)
	over := u.run(ctx, w.files)
	if over == nil {
		over = u.undouble(ctx, w.named)
	}
	return u.finish(ctx, len(w.files)-int(u.told.Load()), over)
}

// finish tells how it went. left is how many files nothing became of, and over why it ended early.
func (u *putting) finish(ctx context.Context, left int, over error) error {
	unheard := u.report.end(left)
	done, lost := u.report.done(), u.report.counts[failed].Files
	switch {
	case over != nil && done > 0 && ctx.Err() == nil:
		return fmt.Errorf("%w; the same command goes on from here", over)
	case over != nil:
		return interrupted(ctx, over, storedStays)
	case unheard != nil:
		return fmt.Errorf("all is done, but cannot be told: %w", unheard)
	case lost > 0 && done == 0:
		return errors.New("nothing was stored, for the reasons above")
	case lost > 0:
		return fmt.Errorf("%w: %s of %d; the reasons are above, and the same command tries only these again", ErrPartly, fileCount(lost), lost+done)
	}
	return nil
}

// storedStays is why a put that was interrupted can be run again.
const storedStays = "what is stored is not sent again"

// interrupted is err or, where a signal ended the command, an ErrInterrupted that says why it can be run again.
func interrupted(ctx context.Context, err error, why string) error {
	if ctx.Err() == nil || err == nil {
		return err
	}
	return fmt.Errorf("%w; run the same command again to go on: %s", ErrInterrupted, why)
}

// set finds the set, or makes it.
func (f *putFlags) set(ctx context.Context, c *client.Client, ref string) (s client.Set, err error) {
	found := true
	if f.newSet {
		s, err = f.findOrMakeSet(ctx, c, ref)
	} else if s, found, err = lookupSet(ctx, c, ref, client.Active); err == nil && !found {
		_, here := os.Lstat(ref)
		err = meant(ctx, c, ref, "a set", "\"labshelf set ls\" lists them"+putAdvice(ref, here == nil))
	}
	if err == nil && s.State == client.Deleted {
		err = fmt.Errorf("the set %s is deleted; bring it back first, with: labshelf restore --set %s", printable(s.Name), s.ID)
	}
	return s, err
}

// putAdvice says of a set that is not there what may have been meant. here says whether there is a file or folder of that name.
func putAdvice(ref string, here bool) string {
	switch space, name, in := strings.Cut(ref, "/"); {
	case here:
		return "\nhere is a file or folder of that name: the set comes last"
	case in && space != "" && name != "":
		return "\n--new-set makes it"
	}
	return fmt.Sprintf("\n\"labshelf set new DATASPACE/%s\" makes it", ref)
}

// findOrMakeSet returns a set without an id where it would have to be made, and nothing is to be done.
func (f *putFlags) findOrMakeSet(ctx context.Context, c *client.Client, ref string) (client.Set, error) {
	s, found, err := lookupSet(ctx, c, ref, client.Active)
	if found || err != nil {
		return s, err
	}
	space, name, _ := strings.Cut(ref, "/")
	d, err := findDataspace(ctx, c, space)
	if err != nil || f.dry {
		return client.Set{}, err
	}
	s, err = c.NewSet(ctx, client.NewSet{Name: name, DataspaceID: d.ID})
	var problem *client.Problem
	if errors.As(err, &problem) && problem.Code == "set_name_taken" { // by who did the same, or by an answer that was lost
		if now, found, lookErr := lookupSet(ctx, c, ref, client.Active); found && lookErr == nil {
			return now, nil
		}
	}
	return s, err
}

// spool keeps standard input in a temporary file, which the caller removes: what cannot be read twice can neither be compared nor
// sent again.
func (p Process) spool(ctx context.Context) (local, error) {
	file, err := os.CreateTemp("", "labshelf-put-*")
	if err != nil {
		return local{}, err
	}
	type copied struct {
		bytes int64
		error
	}
	ended, got := make(chan copied, 1), copied{}
	go func() { // reading does not end with the context
		n, err := io.Copy(file, p.In)
		ended <- copied{n, err}
	}()
	select {
	case got = <-ended:
	case <-ctx.Done():
		got.error = ctx.Err()
	}
	if err = errors.Join(got.error, file.Close()); err != nil {
		return local{}, errors.Join(fmt.Errorf("keep standard input in a temporary file (TMPDIR says where): %w", err), os.Remove(file.Name()))
	}
	return local{path: "-", copy: file.Name(), size: got.bytes}, nil
}
