package metadata

import "errors"

// Errors of a metadata store. The store wraps them with the cause, for the log.
var (
	// ErrNotFound means that the table has no such row.
	ErrNotFound = errors.New("not found")
	// ErrRecordDamaged means that a stored row does not match its checksum or cannot be decoded.
	ErrRecordDamaged = errors.New("record damaged")
	// ErrNoSpace means that the free space was insufficient. Nothing of the change was kept.
	ErrNoSpace = errors.New("no space left")
	// ErrUnwritable means that the file cannot be written, or no file can be opened, at this time.
	// Nothing of the change was kept.
	ErrUnwritable = errors.New("not writable now")
	// ErrUnavailable means that the database server does not answer. Nothing of the change was
	// kept.
	ErrUnavailable = errors.New("not available now")
	// ErrReadOnly means that the store accepts no changes: until a restart after an I/O error, or
	// because it was opened read-only.
	ErrReadOnly = errors.New("read-only")
	// ErrOutcomeUnknown means an I/O error or a lost connection during the commit. The change may
	// or may not exist; a restart settles it at the latest.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrNotDurable means that the data that was read is not on stable storage, and may never be.
	ErrNotDurable = errors.New("not on stable storage")
	// ErrTooNew means that a newer version of the program wrote the tables. Nothing was changed. If
	// several processes share the tables, one may migrate them to its version while others run.
	ErrTooNew = errors.New("the metadata are of a newer version")
	// ErrTooOld means that the tables have a schema version that no release wrote, and that this
	// program no longer migrates. Nothing was changed.
	ErrTooOld = errors.New("the metadata are of a version before the first release")
	// ErrClosed means that the store has been closed.
	ErrClosed = errors.New("closed")
)
