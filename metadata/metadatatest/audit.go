package metadatatest

import (
	"fmt"

	"labshelf/audit"
	"labshelf/metadata"
)

// auditLog is the log of a state.
type auditLog struct {
	access
	state *state
}

func (t auditLog) State() (audit.State, error) { return t.state.log, nil }

func (t auditLog) Get(number uint64) (metadata.AuditEntry, error) {
	if number >= uint64(len(t.state.entries)) {
		return metadata.AuditEntry{}, metadata.ErrNotFound
	}
	return t.state.entries[number], nil
}

func (t auditLog) Append(e metadata.AuditEntry, next audit.State) error {
	t.mustWrite()
	if size := uint64(len(t.state.entries)); e.Number != size || next.Size != size+1 {
		return fmt.Errorf("metadatatest: entry %d does not follow %d entries", e.Number, size)
	}
	t.state.entries, t.state.log = append(t.state.entries, e), next
	return nil
}

func (t auditLog) Replace(e metadata.AuditEntry) error {
	t.mustWrite()
	t.state.entries[e.Number] = e
	return nil
}
