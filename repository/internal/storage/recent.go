package storage

import (
	"sync/atomic"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// Bounds of the recent entries: their number, and the bytes of the values of each. Together at most
// 1400 KiB.
const (
	maxRecent       = 2048
	maxRecentValues = 256
)

// recent holds the last entries that commits of this process have added to the audit log. Each
// replaces an older one. Entries have no texts, because texts can be erased. Entries of other
// processes and entries with long values are missing. It is safe for concurrent use.
type recent [maxRecent]atomic.Pointer[recentEntry]

// recentEntry is immutable.
type recentEntry struct {
	number uint64
	audit.Entry
}

// add stores entries that are on stable storage.
func (r *recent) add(entries []metadata.AuditEntry) {
	for _, row := range entries[max(0, len(entries)-maxRecent):] {
		if e, err := row.Entry(); err == nil && len(e.Values) <= maxRecentValues {
			r[row.Number%maxRecent].Store(&recentEntry{row.Number, e})
		}
	}
}

// get returns an entry by its number. ok is false if it is missing.
func (r *recent) get(number uint64) (e audit.Entry, ok bool) {
	if kept := r[number%maxRecent].Load(); kept != nil && kept.number == number {
		return kept.Entry, true
	}
	return e, false
}
