package wire

import "labshelf/auth/errs"

// CheckRequest asks for a check. The zero value asks for a complete one.
type CheckRequest struct {
	NoData bool   `json:"noData,omitempty"` // not the contents of blobs: only that each is there
	Subset string `json:"subset,omitempty"` // of the blobs, as 2/10; "": all
}

// CheckLine is one line of the answer to a check. One of its fields is not nil.
type CheckLine struct {
	Violation *Violation   `json:"violation,omitempty"`
	Progress  *Progress    `json:"progress,omitempty"`
	End       *CheckResult `json:"end,omitempty"`
	Error     *CheckError  `json:"error,omitempty"`
}

// Violation is something that is wrong in the data.
type Violation struct {
	Part  string `json:"part"`
	Kind  string `json:"kind"` // of object
	ID    string `json:"id"`   // an id, a digest, the number of a page, or a key in hex; or ""
	Name  string `json:"name"` // as people know the object, or ""
	Wrong string `json:"wrong"`
}

// Progress is how far a check is, in bytes of blobs.
type Progress struct {
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// CheckResult is what was checked and how much of it is wrong.
type CheckResult struct {
	Stamp             int64 `json:"stamp"` // of the latest change, µs
	Resources         int64 `json:"resources"`
	Blobs             int64 `json:"blobs"`
	Bytes             int64 `json:"bytes"` // of these blobs
	Violations        int64 `json:"violations"`
	Unreferenced      int64 `json:"unreferenced"` // blobs that no resource refers to
	UnreferencedBytes int64 `json:"unreferencedBytes"`
}

// CheckError is why a check ended early.
type CheckError struct {
	Code   errs.Code `json:"code"`
	Detail string    `json:"detail"`
}

// PurgeRequest asks for a purge.
type PurgeRequest struct {
	OlderThan string `json:"olderThan"` // as Go writes durations
	DryRun    bool   `json:"dryRun,omitempty"`
	Grace     string `json:"grace,omitempty"` // "": as the service is configured
}

// PurgeResult counts what was removed, or would be.
type PurgeResult struct {
	DryRun           bool              `json:"dryRun"`
	Resources        int64             `json:"resources"` // deleted ones, whose files were removed
	ResourceBytes    int64             `json:"resourceBytes"`
	Versions         int64             `json:"versions"`
	VersionBytes     int64             `json:"versionBytes"`
	LabelledVersions int64             `json:"labelledVersions"`
	Labelled         []LabelledVersion `json:"labelled"` // the first thousand of these
	Blobs            int64             `json:"blobs"`    // that nothing referred to
	BlobBytes        int64             `json:"blobBytes"`
	Orphans          int64             `json:"orphans"` // files without a row
	OrphanBytes      int64             `json:"orphanBytes"`
	TrashFiles       int64             `json:"trashFiles"`
	TrashBytes       int64             `json:"trashBytes"`
	Recent           int64             `json:"recent"` // unreferenced files kept: not unreferenced long enough
	RecentBytes      int64             `json:"recentBytes"`
}

// LabelledVersion names a version with a label that a purge takes.
type LabelledVersion struct {
	ResourceID string `json:"resourceId"`
	Name       string `json:"name"`
	Version    int64  `json:"version"` // from 1
	Label      string `json:"label"`
}
