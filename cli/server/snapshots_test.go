package server

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"labshelf/backup"
)

// TestBackupErrorsHaveRemedies: errors of backup commands name the remedy. The cases are limited
// address space, and operations that may have begun another epoch: a restoration, or an older
// metadata file.
func TestBackupErrorsHaveRemedies(t *testing.T) {
	t.Parallel()
	memory := fmt.Errorf("bolt: open meta.db: %w", syscall.ENOMEM)
	for _, tt := range []struct {
		name string
		err  error
		want []string
	}{
		{"create without address space", allowing(memory), []string{"ulimit -v unlimited", "LimitAS"}},
		{"restore without address space", listing(memory, "b"), []string{"ulimit -v unlimited", "LimitAS"}},
		{"create in another epoch", allowing(backup.ErrOtherEpoch), []string{"restored", "meta.db", "--allow-other-epoch"}},
	} {
		for _, want := range tt.want {
			if !strings.Contains(tt.err.Error(), want) {
				t.Errorf("%s: %q does not say %q", tt.name, tt.err, want)
			}
		}
	}
}
