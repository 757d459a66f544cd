package metadata

import "iter"

// BulkEdit is one change of the descriptive metadata of many files of a set, made in steps.
// EditEntries names the audit log entries with the changes of each file.
type BulkEdit struct {
	ID               ID
	SetID            ID
	By               ID // the user
	Kind             EditKind
	Undoes, UndoneBy ID    // the bulk edit that it undoes, and the last one that undid it; zero: none
	Objects          int64 // files changed so far
	Created          Stamp
	Entry            uint64 // number of its first entry in the audit log; the entries of its files name it as their cause
}

// EditKind is the form in which a bulk edit was requested. The numbers are stored and never change.
type EditKind uint8

// The kinds of bulk edits.
const (
	EditByCSV  EditKind = 1
	EditOfMany EditKind = 2 // one patch for selected files
	EditUndo   EditKind = 3
)

// String returns the name of the kind in the API.
func (k EditKind) String() string {
	switch k {
	case EditByCSV:
		return "csv"
	case EditOfMany:
		return "many"
	}
	return "undo"
}

// EditEntry names an entry of the audit log about a file that a bulk edit has changed.
type EditEntry struct {
	EditID ID
	Number uint64 // number of the entry
}

// BulkEdits is the table of bulk edits. The repository removes no row.
type BulkEdits interface {
	Table[ID, BulkEdit]
	EditFinders
}

// EditFinders finds bulk edits by set.
type EditFinders interface {
	// OfSet yields the bulk edits of a set, newest first. If the second id is not zero, only edits
	// with smaller ids are included.
	OfSet(set, before ID) iter.Seq2[BulkEdit, error]
}

// EditEntries is the table of the entries of bulk edits. An entry is its own key. The repository
// removes no row.
type EditEntries interface {
	Table[EditEntry, EditEntry]
	Forwards[EditEntry, EditEntry]
}
