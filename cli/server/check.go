package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"labshelf/cli/connection"
	"labshelf/cli/datadir"
	"labshelf/cli/display"
	"labshelf/cli/exit"
	"labshelf/cli/process"
	"labshelf/client"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

func checkCommand(p process.Process) *cobra.Command {
	var (
		subset         string
		noData, asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Look for damage in all stored data",
		Long: `check compares all stored data: the metadata with their checksums, indexes and
rules, every file with its record, its size and its SHA-256, and the permissions
of the data directory. It lists each violation, with advice. It never changes
anything.

` + placeHelp,
		Args:        cobra.NoArgs,
		Annotations: exit.Codes(exit.CodeLocked, exit.CodeDamaged, exit.CodeInterrupted),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := maintenance.CheckOptions{NoData: noData}
			at, err := placeOf(cmd.Flags(), p)
			if err == nil && subset != "" {
				o.Subset, err = maintenance.ParseSubset(subset)
			}
			if err != nil {
				return exit.Usage(err)
			}
			c := &checking{place: at, report: newReporter(p, asJSON), parts: map[string]bool{}}
			return process.UntilSignal(func(ctx context.Context) error { return c.run(ctx, o) })
		},
	}
	addPlaceFlags(cmd.Flags())
	cmd.Flags().StringVar(&subset, "subset", "", "check only one part of the files: `N/T` is the Nth of T parts, such as 2/10")
	cmd.Flags().BoolVar(&noData, "no-data", false, "do not read the files; check only their existence and size")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each violation, the progress and the result as JSON objects, one a line")
	return cmd
}

// checking is one run of check.
type checking struct {
	place
	report   *reporter
	parts    map[string]bool // parts with a violation
	progress time.Time       // time of the last report
}

func (c *checking) run(ctx context.Context, o maintenance.CheckOptions) error {
	defer c.report.close()
	events := maintenance.CheckEvents{Violation: c.violation, Progress: c.advance}
	check := c.checkData
	if c.remote != nil {
		defer c.remote.Close()
		check = func(ctx context.Context, o maintenance.CheckOptions, events maintenance.CheckEvents) (maintenance.CheckResult, error) {
			result, err := c.remote.Maintenance.Check(ctx, checkRequest(o), client.CheckEvents{
				Violation: func(v client.Violation) { events.Violation(metadata.Violation(v)) }, Progress: events.Progress,
			})
			return maintenance.CheckResult{
				Stamp: metadata.Stamp(result.Stamp), Resources: result.Resources, Blobs: result.Blobs, Bytes: result.Bytes, Violations: result.Violations,
				Unreferenced: result.Unreferenced, UnreferencedBytes: result.UnreferencedBytes,
			}, connection.NameVersions(ctx, c.remote, process.Version(), err)
		}
	}
	result, err := check(ctx, o, events)
	if err != nil {
		return interrupted(ctx, err, "the check is incomplete; the violations found so far are listed above")
	}
	if err := c.end(result); err != nil || result.Violations == 0 {
		return err
	}
	return fmt.Errorf("%w: %s", ErrDamageFound, strings.Join(c.advice(), "\n"))
}

// checkData checks a data directory. It opens everything for reading only.
func (c *checking) checkData(ctx context.Context, o maintenance.CheckOptions, events maintenance.CheckEvents) (result maintenance.CheckResult, err error) {
	data, err := datadir.OpenReadOnly(c.data, c.stores)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	result, err = maintenance.NewUpkeep(data.Metadata, data.Blobs).Check(ctx, o, events)
	if err != nil {
		return result, err
	}
	for _, v := range datadir.WrongModes(data.Path) {
		result.Violations++
		events.Violation(v)
	}
	return result, nil
}

// checkRequest converts the options to a request to the service.
func checkRequest(o maintenance.CheckOptions) wire.CheckRequest {
	r := wire.CheckRequest{NoData: o.NoData}
	if o.Subset != (maintenance.Subset{}) {
		r.Subset = o.Subset.String()
	}
	return r
}

// checkResult converts a result to the form of the service. The lines of --json equal the lines of
// POST /admin/check.
func checkResult(r maintenance.CheckResult) *wire.CheckResult {
	return &wire.CheckResult{
		Stamp: int64(r.Stamp), Resources: r.Resources, Blobs: r.Blobs, Bytes: r.Bytes, Violations: r.Violations,
		Unreferenced: r.Unreferenced, UnreferencedBytes: r.UnreferencedBytes,
	}
}

func (c *checking) violation(v metadata.Violation) {
	c.parts[v.Part] = true
	if c.report.asJSON {
		_ = writeJSON(c.report.Out, wire.CheckLine{Violation: (*wire.Violation)(&v)}) // a closed output does not change the exit code
		return
	}
	c.report.violation(v)
}

// advance reports the progress, as JSON about once a second.
func (c *checking) advance(done, total int64) {
	c.report.progress.set("files", done, total)
	if now := time.Now(); c.report.asJSON && now.Sub(c.progress) > time.Second {
		c.progress = now
		_ = writeJSON(c.report.Out, wire.CheckLine{Progress: &wire.Progress{Done: done, Total: total}})
	}
}

func (c *checking) end(result maintenance.CheckResult) error {
	c.report.close()
	if c.report.asJSON {
		return writeJSON(c.report.Out, wire.CheckLine{End: checkResult(result)})
	}
	found := "No problem was found."
	if result.Violations > 0 {
		found = countText(result.Violations, "problem was found.", "problems were found.")
	}
	_, err := fmt.Fprintf(c.report.Out, "%s %s and %s, %s, were checked, as of %s.\n", found,
		countText(result.Resources, "resource", "resources"), countText(result.Blobs, "file", "files"), display.Bytes(result.Bytes), moment(result.Stamp))
	if err == nil && result.Unreferenced > 0 {
		_, err = fmt.Fprintf(c.report.Out, "Unreferenced: %s, %s, which a purge removes once they have been unreferenced for the time in --older-than.\n",
			countText(result.Unreferenced, "more file", "more files"), display.Bytes(result.UnreferencedBytes))
	}
	return err
}

// advice returns what to do about the parts with violations.
func (c *checking) advice() (lines []string) {
	data := c.data
	if c.remote != nil {
		data = "DIR (the service stopped)"
	}
	if c.parts[metadata.PartPages] || c.parts[metadata.PartRows] || c.parts[metadata.PartRules] {
		lines = append(lines, "the metadata are damaged: make a copy of the data directory, and restore a backup to another one: "+
			"labshelf backup restore BACKUP --data NEWDIR")
	}
	if c.parts[metadata.PartHistory] {
		lines = append(lines, "the metadata are older than the files: put the newer metadata back, or continue with these; see \"labshelf help recovery\" "+
			"(\"Metadata older than the files\"); until then, purge only with a long --older-than, which keeps the files in blobs/")
	}
	if c.parts[metadata.PartBlobs] {
		lines = append(lines, fmt.Sprintf("files are damaged or missing: restore them with: labshelf repair --from BACKUP --data %s; "+
			"you can also upload such a file again", data))
	}
	if c.parts[metadata.PartFiles] {
		lines = append(lines, "there are unknown files, or wrong permissions: move the files elsewhere, and remove the permissions of others with chmod")
	}
	return lines
}
