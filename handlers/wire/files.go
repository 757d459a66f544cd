package wire

import "labshelf/blobs/digest"

// Resource is the record of a file.
type Resource struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	DataURL     string `json:"dataUrl"`     // of the file
	ViewDataURL string `json:"viewDataUrl"` // page for people
	Name        string `json:"name"`        // may contain "/"; not unique
	Description string `json:"description"`
	Format      string `json:"format"`
	Mimetype    string `json:"mimetype"`
	Size        int64  `json:"size"` // KiB, rounded; see Bytes

	Created       Time  `json:"created"`
	CreatedEpoch  Epoch `json:"created_epoch,omitzero"`
	Modified      Time  `json:"modified"` // time of the last creation, replacement, edit, deletion or restoration
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
	Purged      bool          `json:"purged,omitempty"`  // deleted, and the file was removed
	Damaged     bool          `json:"damaged,omitempty"` // the file is known to be damaged on the server; uploading the same bytes repairs it
	MovedTo     string        `json:"movedTo,omitempty"` // new resource id, if a deleted resource was moved to another set
	LinkID      string        `json:"linkId,omitempty"`  // request link through which its first file arrived
	Metadata    Metadata      `json:"metadata,omitempty"`
	ETag        string        `json:"-"` // entity tag of the record; "" in listings
}

// ResourceEdit changes a record; nil fields stay unchanged.
type ResourceEdit struct {
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
	Format      *string `json:"format,omitempty"`

	Metadata Metadata `json:"metadata,omitempty"` // a merge patch
}

// Destination is the target of a copy or move.
type Destination struct {
	SetID string `json:"setId,omitempty"` // "": the same set
	Name  string `json:"name,omitempty"`  // "": the same name
}

// Version is the current or an earlier state of a resource.
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
	Created       Time          `json:"created"`  // time of its upload
	CreatedEpoch  Epoch         `json:"created_epoch,omitzero"`
	CreatedBy     string        `json:"createdBy"`         // id of a user
	Label         string        `json:"label"`             // "": none; versions with a label are kept regardless of the retention
	Current       bool          `json:"current"`           // the current version of the resource
	Replaced      Time          `json:"replaced,omitzero"` // time of the next version; zero in the current version
	ReplacedEpoch Epoch         `json:"replaced_epoch,omitzero"`
	ReplacedBy    string        `json:"replacedBy,omitempty"` // id of a user
	Removed       Time          `json:"removed,omitzero"`     // time when its file was removed; zero: the file exists
	Rule          string        `json:"rule,omitempty"`       // rule that removed the file, for people
	RemovedBy     string        `json:"removedBy,omitempty"`  // id of the sysadmin who erased it
	Damaged       bool          `json:"damaged,omitempty"`    // its file is known to be damaged on the server
	Shared        bool          `json:"shared,omitempty"`     // only in the answer to an erasure: another version has the same bytes, which therefore stay
}

// VersionLabel gives a version a label of up to 100 characters; "" removes it.
type VersionLabel struct {
	Label string `json:"label"`
}

// Upload is a chunked upload, in progress or complete.
type Upload struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Length      int64  `json:"length"` // bytes
	Offset      int64  `json:"offset"` // bytes received
	Created     Time   `json:"created"`
	Expires     Time   `json:"expires"`
	SetID       string `json:"setId,omitempty"`
	ResourceID  string `json:"resourceId,omitempty"`  // resource whose file it replaces
	ResourceURL string `json:"resourceUrl,omitempty"` // resource that the complete upload has created or replaced
}

// Outline is the length of a listing and the beginnings of its pages. Bounded is set if there are
// more than 200,000 resources and folders, or more than 1,000 pages.
type Outline struct {
	Total   int    `json:"total"`
	Bounded bool   `json:"bounded"`
	Marks   []Mark `json:"marks"` // beginnings of all pages but the first
}

// Mark is the beginning of a page.
type Mark struct {
	Index    int    `json:"index"`             // number of items before the page
	Name     string `json:"name,omitempty"`    // name of the item before the page, if ordered by name; the path for a folder
	Modified Time   `json:"modified,omitzero"` // time of the item before the page, if ordered by time
	Page     string `json:"page"`              // URL of the page
}
