// Package wire has the JSON of the HTTP interface as Go types: what the gateway sends, and what
// clients of it send and receive. The interface document, handlers/openapi.yaml, describes the same
// objects. The package imports nothing of the service.
//
// An object is written with its fields in the order of its type. A type named New… creates an
// object, one named …Edit changes it: a nil field is left out and stays as it is.
package wire

import (
	"bytes"
	"encoding/json"
)

// The states of a record.
const (
	Active  = "active"
	Deleted = "deleted"
)

// History is when and by whom an object was created and modified.
type History struct {
	Created       Time   `json:"created"`
	CreatedEpoch  Epoch  `json:"created_epoch,omitzero"`
	Modified      Time   `json:"modified"`
	ModifiedEpoch Epoch  `json:"modified_epoch,omitzero"`
	CreatedBy     string `json:"createdBy"`  // id of a user
	ModifiedBy    string `json:"modifiedBy"` // id of a user
}

// Page is a page of a listing. Either End is true, and Data is empty, or NextPage is the URL of the
// following page.
type Page[T any] struct {
	NextPage    string   `json:"nextPage"`
	CurrentPage string   `json:"currentPage"`
	Data        []T      `json:"data"`
	Folders     []Folder `json:"folders,omitempty"` // of a listing of files with a delimiter
	End         bool     `json:"end"`
}

// End is the page behind the last one.
type End struct {
	End bool `json:"end"`
}

// All is a listing that is short enough to have no pages.
type All[T any] struct {
	Data []T `json:"data"`
}

// Metadata is descriptive metadata, a JSON object; "" is no object. In a request that changes
// something it is a JSON Merge Patch (RFC 7396): null removes a member or a property, lists are
// replaced whole, "" changes nothing.
type Metadata string

// MarshalJSON writes the object.
func (m Metadata) MarshalJSON() ([]byte, error) { return []byte(m), nil }

// UnmarshalJSON reads the object, in which every number stays as it was written.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer
	err := json.Compact(&compact, text)
	*m = Metadata(compact.String())
	return err
}
