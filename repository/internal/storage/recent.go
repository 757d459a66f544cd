package storage

import (
	"sync/atomic"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// Of the log this many entries are kept, each with values of at most so many bytes: 1400 KiB.
const (
	maxRecent       = 2048
	maxRecentValues = 256
)

// recent are the last entries that commits of this process have added to the audit log, each in the
// place of an older one. They have no texts, which could be erased. Entries of other processes,
// those with long values, and those before are missing. It is safe for concurrent use.
type recent [maxRecent]atomic.Pointer[recentEntry]

// recentEntry never changes.
type recentEntry struct {
	number uint64
	audit.Entry
}

// add takes entries that are on stable storage.
func (r *recent) add(entries []metadata.AuditEntry) {
	for _, row := range entries[max(0, len(entries)-maxRecent):] {
		if e, err := row.Entry(); err == nil && len(e.Values) <= maxRecentValues {
			r[row.Number%maxRecent].Store(&recentEntry{row.Number, e})
		}
	}
}

// get returns the entry with a number, if it is there.
func (r *recent) get(number uint64) (e audit.Entry, ok bool) {
	if kept := r[number%maxRecent].Load(); kept != nil && kept.number == number {
		return kept.Entry, true
	}
	return e, false
}
