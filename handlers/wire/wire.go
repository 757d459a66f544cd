// Package wire defines the JSON of the HTTP interface as Go types, for the gateway and for clients.
// The interface document, handlers/openapi.yaml, describes the same objects. The package imports
// nothing of the service.
//
// The JSON fields have the order of the Go fields. A type named New… creates an object. A type
// named …Edit changes an object: nil fields are omitted and stay unchanged.
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

// History records when and by whom an object was created and modified.
type History struct {
	Created       Time   `json:"created"`
	CreatedEpoch  Epoch  `json:"created_epoch,omitzero"`
	Modified      Time   `json:"modified"`
	ModifiedEpoch Epoch  `json:"modified_epoch,omitzero"`
	CreatedBy     string `json:"createdBy"`  // id of a user
	ModifiedBy    string `json:"modifiedBy"` // id of a user
}

// Page is a page of a listing. Either End is set and Data is empty, or NextPage is the URL of the
// next page.
type Page[T any] struct {
	NextPage    string   `json:"nextPage"`
	CurrentPage string   `json:"currentPage"`
	Data        []T      `json:"data"`
	Folders     []Folder `json:"folders,omitempty"` // only in listings of files with a delimiter
	End         bool     `json:"end"`
}

// End is the page after the last page.
type End struct {
	End bool `json:"end"`
}

// All is a listing that is short enough to need no pages.
type All[T any] struct {
	Data []T `json:"data"`
}

// Metadata is descriptive metadata, as a JSON object; "" means no object. In requests that change
// an object it is a JSON Merge Patch (RFC 7396): null removes a member or a property, lists are
// replaced completely, and "" changes nothing.
type Metadata string

// MarshalJSON encodes the object.
func (m Metadata) MarshalJSON() ([]byte, error) { return []byte(m), nil }

// UnmarshalJSON decodes the object. Numbers keep their spelling.
func (m *Metadata) UnmarshalJSON(text []byte) error {
	var compact bytes.Buffer
	err := json.Compact(&compact, text)
	*m = Metadata(compact.String())
	return err
}
