package metadata

import "iter"

// BulkEdit is one change of the descriptive metadata of many files of a set, made in steps. What it
// did to each file is in the entries of the audit log that EditEntries names.
type BulkEdit struct {
	ID               ID
	SetID            ID
	By               ID // the user
	Kind             EditKind
	Undoes, UndoneBy ID    // the bulk edit that it undoes, and the last one that undid it; zero: none
	Objects          int64 // files that it has changed so far
	Created          Stamp
	Entry            uint64 // number of the entry of the audit log with which it began; those of its files name it as their cause
}

// EditKind is how a bulk edit was asked for. The numbers are stored: they never change.
type EditKind uint8

// The kinds of bulk edits.
const (
	EditByCSV  EditKind = 1
	EditOfMany EditKind = 2 // one patch for files that were selected
	EditUndo   EditKind = 3
)

// String returns what the interface writes.
func (k EditKind) String() string {
	switch k {
	case EditByCSV:
		return "csv"
	case EditOfMany:
		return "many"
	}
	return "undo"
}

// EditEntry says that an entry of the audit log is about a file which a bulk edit has changed.
type EditEntry struct {
	EditID ID
	Number uint64 // of the entry
}

// BulkEdits is the table of bulk edits. The repository removes no row.
type BulkEdits interface {
	Table[ID, BulkEdit]
	EditFinders
}

// EditFinders finds bulk edits by set.
type EditFinders interface {
	// OfSet yields the bulk edits of a set with an id less than before, the newest first; zero:
	// from the newest.
	OfSet(set, before ID) iter.Seq2[BulkEdit, error]
}

// EditEntries is the table of the entries of bulk edits. An entry is its own key. The repository
// removes no row.
type EditEntries interface {
	Table[EditEntry, EditEntry]
	Forwards[EditEntry, EditEntry]
}
