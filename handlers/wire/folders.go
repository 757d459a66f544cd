package wire

// Folder is a folder of a set: a common beginning of file names.
type Folder struct {
	Path string `json:"path"` // ends in a slash
}

// FolderSize is the size of a folder with its subfolders. If Bounded is set, both numbers are lower
// bounds.
type FolderSize struct {
	Path    string `json:"path"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	Bounded bool   `json:"bounded"`
}

// FolderChange is a folder after a creation, copy, move or deletion, with the number of affected
// files.
type FolderChange struct {
	SetID   string `json:"setId"`
	Path    string `json:"path"`
	Files   int    `json:"files"`
	Folders int    `json:"folders"` // number of affected folders that were created explicitly

	Deletion       string   `json:"deletion,omitempty"`       // id with which a deletion can be restored
	CreatedFolders []string `json:"createdFolders,omitempty"` // the first thousand affected folders of a deletion
}

// FolderRequest requests a change of a folder. ToPath and SetID are for a copy or move, Deletion
// and CreatedFolders for a restoration.
type FolderRequest struct {
	Path           string   `json:"path"`
	ToPath         string   `json:"toPath,omitempty"`
	SetID          string   `json:"setId,omitempty"` // "": the same set
	Deletion       string   `json:"deletion,omitempty"`
	CreatedFolders []string `json:"createdFolders,omitempty"`
}

// The actions on many files of a set.
const (
	DeleteMany  = "delete"
	RestoreMany = "restore"
	CopyMany    = "copy"
	MoveMany    = "move"
)

// ManyFiles requests one action on several files of a set.
type ManyFiles struct {
	Action string   `json:"action"`           // DeleteMany, RestoreMany, CopyMany or MoveMany
	IDs    []string `json:"ids"`              // 1 to 1,000 different ids
	SetID  string   `json:"setId,omitempty"`  // target of a copy or move; "": the same set
	Folder *string  `json:"folder,omitempty"` // target folder of a copy or move, with a trailing slash; "": no folder; nil: names stay unchanged
}

// ManyChanged is the result of an action on several files.
type ManyChanged struct {
	Done    int          `json:"done"`
	Results []ManyResult `json:"results"`
}

// ManyResult is the result for one of several files.
type ManyResult struct {
	ID         string `json:"id"`
	ResourceID string `json:"resourceId,omitempty"` // id of the copied or moved file
	Code       string `json:"code,omitempty"`       // reason of the refusal; "": done
	Detail     string `json:"detail,omitempty"`
	Already    bool   `json:"already,omitempty"` // already deleted, active, or in that place
}
