package metadata

import "errors"

// What a metadata store reports; it wraps them, with the cause for the log.
var (
	// ErrNotFound: the table holds no such row.
	ErrNotFound = errors.New("not found")
	// ErrRecordDamaged: a stored row does not match its checksum or cannot be decoded.
	ErrRecordDamaged = errors.New("record damaged")
	// ErrNoSpace: there was no room for the change; nothing of it was kept.
	ErrNoSpace = errors.New("no space left")
	// ErrUnwritable: the file cannot be written, or no file opened, at this time; nothing of the
	// change was kept.
	ErrUnwritable = errors.New("not writable now")
	// ErrUnavailable: the server that keeps the rows does not answer now; nothing of a change was
	// kept.
	ErrUnavailable = errors.New("not available now")
	// ErrReadOnly: the store takes no changes until it is restarted, after an I/O error, or since
	// it was opened to be read only.
	ErrReadOnly = errors.New("read-only")
	// ErrOutcomeUnknown: an I/O error or a lost connection in the commit; the change may be there
	// or not, after a restart at the latest.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrNotDurable: what was read is not on stable storage, and may never be.
	ErrNotDurable = errors.New("not on stable storage")
	// ErrTooNew: the tables are of a newer version of the program. Nothing was changed. Where
	// several processes share the tables, one of them may bring them to its version while others
	// run.
	ErrTooNew = errors.New("the metadata are of a newer version")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("closed")
)
