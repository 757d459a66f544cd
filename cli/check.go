package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"labshelf/blobs"
	"labshelf/bolt"
	"labshelf/commands"
	"labshelf/metadata"
	"labshelf/repository"
)

func checkCommand(p process) *cobra.Command {
	var (
		subset         string
		noData, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage in everything that is kept",
		Long: `check holds everything against everything else: the metadata against their
checksums, indexes and rules, every file against its record, its size and its
SHA-256, and the permissions of the data directory. It names each thing that is
wrong, and what to do. It never changes anything.

` + placeHelp,
		Args:        cobra.NoArgs,
		Annotations: exits(exitLocked, exitDamaged, exitInterrupted),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := repository.CheckOptions{NoData: noData}
			at, err := placeOf(cmd.Flags(), p.environ)
			if err == nil && subset != "" {
				o.Subset, err = repository.ParseSubset(subset)
			}
			if err != nil {
				return usageError{err}
			}
			c := &checking{place: at, tell: newTeller(p, asJSON), parts: map[string]bool{}}
			return untilSignal(func(ctx context.Context) error { return c.run(ctx, o) })
		},
	}
	addPlaceFlags(cmd.Flags())
	cmd.Flags().StringVar(&subset, "subset", "", "look at the files of one part only: `N/T` is the Nth of T parts, such as 2/10")
	cmd.Flags().BoolVar(&noData, "no-data", false, "do not read the files; see only that they are there, in their length")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each violation, the progress and the end as JSON objects on lines of their own")
	return cmd
}

// checking is one run of the command.
type checking struct {
	place
	tell     *teller
	parts    map[string]bool // in which something is wrong
	progress time.Time       // when some was last written
}

func (c *checking) run(ctx context.Context, o repository.CheckOptions) error {
	defer c.tell.close()
	events := repository.CheckEvents{Violation: c.violation, Progress: c.advance}
	check := c.checkData
	if c.remote != nil {
		defer c.remote.Close()
		check = func(ctx context.Context, o repository.CheckOptions, events repository.CheckEvents) (repository.CheckResult, error) {
			result, err := c.remote.Check(ctx, o, events)
			return result, commands.NameVersions(ctx, c.remote, version(), err)
		}
	}
	result, err := check(ctx, o, events)
	if err != nil {
		return interrupted(ctx, err, "the check did not come to its end; what was found so far is listed above")
	}
	if err := c.end(result); err != nil || result.Violations == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", errDamageFound, strings.Join(c.advice(), "\n"))
}

// checkData checks a data directory. Everything in it is opened for reading only.
func (c *checking) checkData(ctx context.Context, o repository.CheckOptions, events repository.CheckEvents) (result repository.CheckResult, err error) {
	data, err := filepath.Abs(c.data)
	if err == nil {
		err = wantMetadata(data)
	}
	if err != nil {
		return result, err
	}
	files, err := blobs.OpenDirReadOnly(data)
	if err != nil {
		return result, err
	}
	meta, err := bolt.Open(filepath.Join(data, metadataFile), bolt.Options{ReadOnly: true})
	if err != nil {
		return result, remedy(data, err)
	}
	defer func() { err = errors.Join(err, meta.Close()) }()
	result, err = repository.NewUpkeep(meta, files).Check(ctx, o, events)
	if err != nil {
		return result, err
	}
	for _, v := range wrongModes(data) {
		result.Violations++
		events.Violation(v)
	}
	return result, nil
}

// wantMetadata returns an error unless there is a metadata file in the data directory.
func wantMetadata(data string) error {
	if info, err := os.Stat(data); err == nil && !info.IsDir() {
		return usageError{fmt.Errorf("%s is a file; name a data directory with --data", data)}
	}
	if err := refuseOrphans(data); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(data, metadataFile)); errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("%s is no data directory: there is no %s; name the right one with --data", data, metadataFile)}
	}
	return nil
}

// wrongModes lists what in the data directory has other permissions than the service gives. What is in blobs/ is looked at
// elsewhere; the configuration, which holds no secret, is the operator's own, and so is the directory itself as long as nobody
// else can write to it.
func wrongModes(data string) (wrong []metadata.Violation) {
	if runtime.GOOS == "windows" {
		return nil
	}
	for _, name := range []string{".", metadataFile, keyFile, "blobs", "tmp", "parts", "trash"} {
		info, err := os.Stat(filepath.Join(data, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		v := metadata.Violation{Part: metadata.PartFiles, Kind: "file", Name: name}
		want := fs.FileMode(0o600)
		if err == nil && info.IsDir() {
			v.Kind, want = "folder", 0o700
		}
		switch {
		case err != nil:
			v.Wrong = fmt.Sprintf("it cannot be looked at: %v", err)
		case name == "." && info.Mode().Perm()&0o022 == 0:
			continue
		case info.Mode().Perm() != want:
			v.Wrong = fmt.Sprintf("it has mode %04o, not %04o", info.Mode().Perm(), want)
		default:
			continue
		}
		wrong = append(wrong, v)
	}
	return wrong
}

// The lines of --json are those of POST /admin/check.
type (
	violationLine struct {
		Violation violationFields `json:"violation"`
	}
	violationFields struct {
		Part  string `json:"part"`
		Kind  string `json:"kind"`
		ID    string `json:"id"`
		Name  string `json:"name"`
		Wrong string `json:"wrong"`
	}
	progressLine struct {
		Progress progressFields `json:"progress"`
	}
	progressFields struct {
		Done  int64 `json:"done"`
		Total int64 `json:"total"`
	}
	endLine struct {
		End endFields `json:"end"`
	}
	endFields struct {
		Stamp             metadata.Stamp `json:"stamp"`
		Resources         int64          `json:"resources"`
		Blobs             int64          `json:"blobs"`
		Bytes             int64          `json:"bytes"`
		Violations        int64          `json:"violations"`
		Unreferenced      int64          `json:"unreferenced"`
		UnreferencedBytes int64          `json:"unreferencedBytes"`
	}
)

func (c *checking) violation(v metadata.Violation) {
	c.parts[v.Part] = true
	if c.tell.asJSON {
		_ = writeJSON(c.tell.stdout, violationLine{violationFields(v)}) // who closes the output gets the exit code still
		return
	}
	c.tell.violation(v)
}

// advance tells programs about once a second how far it is.
func (c *checking) advance(done, total int64) {
	c.tell.progress.set("files", done, total)
	if now := time.Now(); c.tell.asJSON && now.Sub(c.progress) > time.Second {
		c.progress = now
		_ = writeJSON(c.tell.stdout, progressLine{progressFields{done, total}})
	}
}

func (c *checking) end(result repository.CheckResult) error {
	c.tell.close()
	if c.tell.asJSON {
		return writeJSON(c.tell.stdout, endLine{endFields(result)})
	}
	found := "Nothing is wrong."
	if result.Violations > 0 {
		found = countText(result.Violations, "thing is wrong.", "things are wrong.")
	}
	_, err := fmt.Fprintf(c.tell.stdout, "%s %s and %s, %s, were looked at, as of %s.\n", found,
		countText(result.Resources, "resource", "resources"), countText(result.Blobs, "file", "files"), commands.FormatBytes(result.Bytes), moment(result.Stamp))
	if err == nil && result.Unreferenced > 0 {
		_, err = fmt.Fprintf(c.tell.stdout, "Nothing refers to %s, %s, which a purge removes once that has been so for as long as it is told.\n",
			countText(result.Unreferenced, "more file", "more files"), commands.FormatBytes(result.UnreferencedBytes))
	}
	return err
}

// advice says what to do about the parts in which something is wrong.
func (c *checking) advice() (lines []string) {
	data := c.data
	if c.remote != nil {
		data = "DIR (the service stopped)"
	}
	if c.parts[metadata.PartPages] || c.parts[metadata.PartRows] || c.parts[metadata.PartRules] {
		lines = append(lines, fmt.Sprintf("the metadata are damaged: keep a copy of the data directory as it is, and restore a backup to another one: "+
			"%s backup restore BACKUP --data NEWDIR", program))
	}
	if c.parts[metadata.PartHistory] {
		lines = append(lines, "the metadata are older than the files: put the newer ones back, or go on with these, as docs/operations.md says "+
			"(\"Metadata older than the files\"); until then nothing is lost from blobs/ by a purge that waits long enough")
	}
	if c.parts[metadata.PartBlobs] {
		lines = append(lines, fmt.Sprintf("files are damaged or missing: bring them back with: %s repair --from BACKUP --data %s; "+
			"who has such a file can also upload it again", program, data))
	}
	if c.parts[metadata.PartFiles] {
		lines = append(lines, "there are strange files, or wrong permissions: move the files away, and make what is there yours alone with chmod")
	}
	return lines
}

// countText is a number of things: of one, or of several.
func countText(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
