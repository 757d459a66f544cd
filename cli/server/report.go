package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"labshelf/auth/errs"
	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/cli/display"
	"labshelf/cli/process"
	"labshelf/client"
	"labshelf/handlers/wire"
	"labshelf/metadata"
)

// writeJSON writes a value as one line of JSON.
func writeJSON[T any](out io.Writer, v T) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// reporter prints the output of a long command: progress, violations and the result, as text or
// JSON.
type reporter struct {
	process.Process
	asJSON     bool
	progress   *progress
	violations []wire.Violation // with asJSON only: all violations
	metadata   bool             // there was a violation in the metadata
}

func newReporter(p process.Process, asJSON bool) *reporter {
	return &reporter{Process: p, asJSON: asJSON, progress: newProgress(p.Err), violations: []wire.Violation{}}
}

func addJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print the result as JSON")
}

func (r *reporter) close() { r.progress.close() }

// violation prints a violation immediately; with asJSON it keeps the violation for the end.
func (r *reporter) violation(v metadata.Violation) {
	r.metadata = r.metadata || v.Part != metadata.PartBlobs && v.Part != metadata.PartFiles
	if r.asJSON {
		r.violations = append(r.violations, wire.Violation(v))
		return
	}
	r.progress.say(r.Out, v.String()+"\n")
}

// end prints the result of the command: the text, or, with asJSON, the fields of result and the
// violations.
func (r *reporter) end(text string, result any) error {
	r.close()
	if !r.asJSON {
		_, err := io.WriteString(r.Out, text)
		return err
	}
	return writeJSON(r.Out, struct {
		Result     any              `json:"result"`
		Violations []wire.Violation `json:"violations"`
	}{result, r.violations})
}

// failed returns the error of a command that ended early, after it has printed the violations found
// so far. For state see interrupted.
func (r *reporter) failed(ctx context.Context, err error, state string) error {
	r.close()
	if noRoom(err) {
		err = fmt.Errorf("%w\nthe disk is full: %s", err, state)
	}
	err = interrupted(ctx, err, state)
	if r.asJSON && len(r.violations) > 0 {
		return errors.Join(err, r.end("", nil))
	}
	return err
}

// restored prints the result of a restoration. text contains a %s for the numbers.
func (r *reporter) restored(done backup.Restored, text string) error {
	numbers := fmt.Sprintf("%s, %s, %s", countText(done.Check.Resources, "resource", "resources"),
		countText(done.Check.Blobs, "file", "files"), display.Bytes(done.Check.Bytes))
	fields := struct {
		Manifest backup.Manifest   `json:"manifest"`
		Check    *wire.CheckResult `json:"check"`
	}{done.Manifest, checkResult(done.Check)}
	if err := r.end(fmt.Sprintf(text, numbers), fields); err != nil {
		return err
	}
	if n := done.Check.Violations; n > 0 && r.metadata {
		return fmt.Errorf("%w: %s, and the metadata are damaged: the backup contains damaged metadata; restore an older one",
			ErrDamageFound, countText(n, "problem", "problems"))
	} else if n > 0 {
		return fmt.Errorf("%w: %s; %s lost before the backup was created; an older backup may contain the lost files: labshelf repair --from OLDER --data DIR",
			ErrDamageFound, countText(n, "problem", "problems"), countText(int64(len(done.Manifest.Damaged)), "file was", "files were"))
	}
	return nil
}

// noRoom reports whether a disk or a quota is full, here or at the service.
func noRoom(err error) bool {
	var problem *client.Problem
	return errors.Is(err, blobs.ErrNoSpace) || errors.Is(err, metadata.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) ||
		errors.As(err, &problem) && problem.Code == errs.CodeNoSpace
}

// interrupted replaces the error of a command that a signal ended. The text state says what was
// done and what was not.
func interrupted(ctx context.Context, err error, state string) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("stopped: %s", state)
}

// moment formats a stamp for people.
func moment(stamp metadata.Stamp) string { return stamp.Time().Format(time.DateTime) + " UTC" }

// countText formats a number with its noun, in the singular or the plural.
func countText(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
