package wire

import "encoding/json"

// Edit is a change of the metadata of many files of a set.
type Edit struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	SetID        string `json:"setId"`
	By           string `json:"by"`               // id of a user
	Kind         string `json:"kind"`             // csv, many or undo
	Undoes       string `json:"undoes,omitempty"` // the edit that it undid
	Objects      int64  `json:"objects"`          // files that it has changed so far
	Created      Time   `json:"created"`
	CreatedEpoch Epoch  `json:"created_epoch,omitzero"`
	Undone       string `json:"undone,omitempty"` // the last edit that undid it
}

// EditOutcome is what an edit has changed, or in a preview would change. Changes and Problems are
// the first hundred.
type EditOutcome struct {
	Edit      *Edit         `json:"edit,omitempty"` // nil: nothing was changed
	Rows      int           `json:"rows"`
	Changed   int           `json:"changed"`
	Unchanged int           `json:"unchanged"`
	Changes   []EditChange  `json:"changes"`
	Problems  []EditProblem `json:"problems"`
}

// EditChange is what becomes of one file.
type EditChange struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"`
	Fields []EditedField `json:"fields"`
}

// EditedField is the change of one member or property. A null stands for a missing value.
type EditedField struct {
	Name   string          `json:"name"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// EditProblem is why a row is refused, or a file was left as it is.
type EditProblem struct {
	Row     int    `json:"row,omitempty"` // as spreadsheets count; 0: none
	Column  string `json:"column,omitempty"`
	Message string `json:"message"`
}

// ManyEdit is one change of several files.
type ManyEdit struct {
	IDs        []string `json:"ids"`
	Metadata   Metadata `json:"metadata,omitempty"` // a merge patch
	AddTags    []string `json:"addTags,omitempty"`
	RemoveTags []string `json:"removeTags,omitempty"`
}
