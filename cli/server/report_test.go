package server

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"labshelf/auth/errs"
	"labshelf/backup"
	"labshelf/blobs"
	"labshelf/cli/process"
	"labshelf/client"
	"labshelf/metadata"
	"labshelf/repository/maintenance"
)

// TestDiskFullErrorDescribesState: if a disk is full, the error describes the state and the next
// step.
func TestDiskFullErrorDescribesState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		room bool
	}{
		"files":      {fmt.Errorf("copy: %w", blobs.ErrNoSpace), true},
		"metadata":   {fmt.Errorf("copy: %w", syscall.ENOSPC), true},
		"the server": {fmt.Errorf("copy: %w", &client.Problem{Status: 507, Code: errs.CodeNoSpace}), true},
		"other":      {errors.New("no route to host"), false},
	} {
		err := newReporter(process.Process{Out: io.Discard}, false).failed(t.Context(), c.err, "run it again")
		if !errors.Is(err, c.err) || strings.Contains(err.Error(), "the disk is full: run it again") != c.room {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRestorationReportsDamagedMetadata: files can be repaired from another backup. Records cannot.
func TestRestorationReportsDamagedMetadata(t *testing.T) {
	t.Parallel()
	for part, want := range map[string]string{metadata.PartRows: "restore an older one", metadata.PartBlobs: "repair --from OLDER"} {
		report := newReporter(process.Process{Out: io.Discard}, false)
		report.violation(metadata.Violation{Part: part, Wrong: "on purpose"})
		err := report.restored(backup.Restored{Check: maintenance.CheckResult{Violations: 1}}, "%s\n")
		if !errors.Is(err, ErrDamageFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", part, err)
		}
	}
}
