package wire

import "encoding/json"

// Edit is a bulk edit of file metadata in a set.
type Edit struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	SetID        string `json:"setId"`
	By           string `json:"by"`               // id of a user
	Kind         string `json:"kind"`             // csv, many or undo
	Undoes       string `json:"undoes,omitempty"` // id of the edit that it undid
	Objects      int64  `json:"objects"`          // number of files changed so far
	Created      Time   `json:"created"`
	CreatedEpoch Epoch  `json:"created_epoch,omitzero"`
	Undone       string `json:"undone,omitempty"` // id of the last edit that undid it
}

// EditOutcome is the result of an edit, or of its preview. Changes and Problems contain at most the
// first hundred entries.
type EditOutcome struct {
	Edit      *Edit         `json:"edit,omitempty"` // nil: nothing was changed
	Rows      int           `json:"rows"`
	Changed   int           `json:"changed"`
	Unchanged int           `json:"unchanged"`
	Changes   []EditChange  `json:"changes"`
	Problems  []EditProblem `json:"problems"`
}

// EditChange is the change of one file.
type EditChange struct {
	ID     string        `json:"id"`
	Name   string        `json:"name"`
	Fields []EditedField `json:"fields"`
}

// EditedField is the change of one member or property. null means that the value is missing.
type EditedField struct {
	Name   string          `json:"name"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// EditProblem is the reason why a row was refused or a file was left unchanged.
type EditProblem struct {
	Row     int    `json:"row,omitempty"` // number of the row in a spreadsheet; 0: no row
	Column  string `json:"column,omitempty"`
	Message string `json:"message"`
}

// ManyEdit applies one change to several files.
type ManyEdit struct {
	IDs        []string `json:"ids"`
	Metadata   Metadata `json:"metadata,omitempty"` // a merge patch
	AddTags    []string `json:"addTags,omitempty"`
	RemoveTags []string `json:"removeTags,omitempty"`
}
