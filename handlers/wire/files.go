package wire

import "labshelf/blobs/digest"

// Resource is the record of a file.
type Resource struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	DataURL     string `json:"dataUrl"`     // of the file
	ViewDataURL string `json:"viewDataUrl"` // of a page for people
	Name        string `json:"name"`        // may contain "/"; not unique
	Description string `json:"description"`
	Format      string `json:"format"`
	Mimetype    string `json:"mimetype"`
	Size        int64  `json:"size"` // KiB, rounded; see Bytes

	Created       Time  `json:"created"`
	CreatedEpoch  Epoch `json:"created_epoch,omitzero"`
	Modified      Time  `json:"modified"` // when last created, replaced, edited, deleted or restored
	ModifiedEpoch Epoch `json:"modified_epoch,omitzero"`

	SetID       string        `json:"setId"`
	State       string        `json:"state"` // Active or Deleted
	Bytes       int64         `json:"bytes"` // length of the file
	SHA256      digest.Digest `json:"sha256"`
	Filename    string        `json:"filename"` // without folders; "": unknown
	DataspaceID string        `json:"dataspaceId"`
	CreatedBy   string        `json:"createdBy"`         // id of a user
	ModifiedBy  string        `json:"modifiedBy"`        // id of a user
	Version     int64         `json:"version"`           // number of the current version, from 1
	Purged      bool          `json:"purged,omitempty"`  // deleted, and its file is gone for good
	Damaged     bool          `json:"damaged,omitempty"` // its file is known to be damaged on the server; uploading the same bytes heals it
	MovedTo     string        `json:"movedTo,omitempty"` // of a deleted one that was moved into another set: id of the resource that it has become
	LinkID      string        `json:"linkId,omitempty"`  // of one whose first file came through a request link: id of that link
	Metadata    Metadata      `json:"metadata,omitempty"`
	ETag        string        `json:"-"` // of the record in the answer; "" in listings
}

// ResourceEdit changes a record; nil fields stay.
type ResourceEdit struct {
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
	Format      *string `json:"format,omitempty"`

	Metadata Metadata `json:"metadata,omitempty"` // a merge patch
}

// Destination is where a file goes that is copied or moved.
type Destination struct {
	SetID string `json:"setId,omitempty"` // "": the set in which it is
	Name  string `json:"name,omitempty"`  // "": the name that it has
}

// Version is what a resource is, or was before its file was replaced.
type Version struct {
	Number        int64         `json:"version"` // from 1
	URL           string        `json:"url"`
	DataURL       string        `json:"dataUrl"` // of its file
	ResourceID    string        `json:"resourceId"`
	Name          string        `json:"name"`
	Description   string        `json:"description"`
	Format        string        `json:"format"`
	Mimetype      string        `json:"mimetype"`
	Bytes         int64         `json:"bytes"` // length of the file
	SHA256        digest.Digest `json:"sha256"`
	Filename      string        `json:"filename"` // without folders; "": unknown
	Created       Time          `json:"created"`  // when its file came
	CreatedEpoch  Epoch         `json:"created_epoch,omitzero"`
	CreatedBy     string        `json:"createdBy"`         // id of a user
	Label         string        `json:"label"`             // "": none; one with a label is kept whatever the retention says
	Current       bool          `json:"current"`           // it is the one that the resource is in
	Replaced      Time          `json:"replaced,omitzero"` // when the next one came; zero in the current one
	ReplacedEpoch Epoch         `json:"replaced_epoch,omitzero"`
	ReplacedBy    string        `json:"replacedBy,omitempty"` // id of a user
	Removed       Time          `json:"removed,omitzero"`     // when its file was removed; zero: it is there
	Rule          string        `json:"rule,omitempty"`       // by which rule, for people
	RemovedBy     string        `json:"removedBy,omitempty"`  // the sysadmin who erased it
	Damaged       bool          `json:"damaged,omitempty"`    // its file is known to be damaged on the server
	Shared        bool          `json:"shared,omitempty"`     // in the answer that erased it: something else has the same bytes, which stay for that
}

// VersionLabel gives a version a label of up to 100 characters; "" removes it.
type VersionLabel struct {
	Label string `json:"label"`
}

// Upload is an upload in chunks that is not complete, or has become a resource.
type Upload struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Length      int64  `json:"length"` // bytes
	Offset      int64  `json:"offset"` // bytes that were received
	Created     Time   `json:"created"`
	Expires     Time   `json:"expires"`
	SetID       string `json:"setId,omitempty"`
	ResourceID  string `json:"resourceId,omitempty"`  // of one that replaces a file
	ResourceURL string `json:"resourceUrl,omitempty"` // the resource that it has become
}

// Outline is how long a listing is, and where its pages begin. Bounded: there are more than 200,000
// resources and folders, or than 1,000 pages.
type Outline struct {
	Total   int    `json:"total"`
	Bounded bool   `json:"bounded"`
	Marks   []Mark `json:"marks"` // of all pages but the first
}

// Mark is the beginning of a page.
type Mark struct {
	Index    int    `json:"index"`             // how many are before it
	Name     string `json:"name,omitempty"`    // of the last of these, in an order by name; of a folder its path
	Modified Time   `json:"modified,omitzero"` // of the last of these, in an order by time
	Page     string `json:"page"`              // its URL
}
