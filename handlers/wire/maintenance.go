package wire

import "labshelf/auth/errs"

// CheckRequest requests a check. The zero value requests a complete check.
type CheckRequest struct {
	NoData bool   `json:"noData,omitempty"` // check only that blobs exist, not their content
	Subset string `json:"subset,omitempty"` // subset of the blobs, such as 2/10; "": all
}

// CheckLine is one line of the answer to a check. Exactly one field is not nil.
type CheckLine struct {
	Violation *Violation   `json:"violation,omitempty"`
	Progress  *Progress    `json:"progress,omitempty"`
	End       *CheckResult `json:"end,omitempty"`
	Error     *CheckError  `json:"error,omitempty"`
}

// Violation is an error in the data.
type Violation struct {
	Part  string `json:"part"`
	Kind  string `json:"kind"` // kind of the object
	ID    string `json:"id"`   // an id, a digest, the number of a page, or a key in hex; or ""
	Name  string `json:"name"` // name of the object for people, or ""
	Wrong string `json:"wrong"`
}

// Progress is the progress of a check, in bytes of blobs.
type Progress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// CheckResult summarizes a check.
type CheckResult struct {
	Stamp             int64 `json:"stamp"` // stamp of the latest change, µs
	Resources         int64 `json:"resources"`
	Blobs             int64 `json:"blobs"`
	Bytes             int64 `json:"bytes"` // bytes of Blobs
	Violations        int64 `json:"violations"`
	Unreferenced      int64 `json:"unreferenced"` // blobs that no resource references
	UnreferencedBytes int64 `json:"unreferencedBytes"`
}

// CheckError is the reason why a check ended early.
type CheckError struct {
	Code   errs.Code `json:"code"`
	Detail string    `json:"detail"`
}

// PurgeRequest requests a purge.
type PurgeRequest struct {
	OlderThan string `json:"olderThan"` // duration in Go syntax
	DryRun    bool   `json:"dryRun,omitempty"`
	Grace     string `json:"grace,omitempty"` // "": the configured value
}

// PurgeResult counts what a purge removed, or would remove in a dry run.
type PurgeResult struct {
	DryRun           bool              `json:"dryRun"`
	Resources        int64             `json:"resources"` // deleted resources whose files were removed
	ResourceBytes    int64             `json:"resourceBytes"`
	Versions         int64             `json:"versions"`
	VersionBytes     int64             `json:"versionBytes"`
	LabelledVersions int64             `json:"labelledVersions"`
	Labelled         []LabelledVersion `json:"labelled"` // the first thousand labeled versions
	Blobs            int64             `json:"blobs"`    // unreferenced blobs
	BlobBytes        int64             `json:"blobBytes"`
	Orphans          int64             `json:"orphans"` // files without a row
	OrphanBytes      int64             `json:"orphanBytes"`
	TrashFiles       int64             `json:"trashFiles"`
	TrashBytes       int64             `json:"trashBytes"`
	Recent           int64             `json:"recent"` // unreferenced files kept: not unreferenced long enough
	RecentBytes      int64             `json:"recentBytes"`
}

// LabelledVersion names a version with a label that a purge removes.
type LabelledVersion struct {
	ResourceID string `json:"resourceId"`
	Name       string `json:"name"`
	Version    int64  `json:"version"` // from 1
	Label      string `json:"label"`
}
