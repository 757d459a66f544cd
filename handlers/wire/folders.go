package wire

// Folder is a folder of a set: what the names of its files begin with.
type Folder struct {
	Path string `json:"path"` // ends in a slash
}

// FolderSize is how much is in a folder and below. Bounded: there are more files, and both numbers
// are lower bounds.
type FolderSize struct {
	Path    string `json:"path"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"`
	Bounded bool   `json:"bounded"`
}

// FolderChange is a folder after it was created, copied, moved or deleted, and how many files that
// concerned.
type FolderChange struct {
	SetID   string `json:"setId"`
	Path    string `json:"path"`
	Files   int    `json:"files"`
	Folders int    `json:"folders"` // that were created by themselves

	Deletion       string   `json:"deletion,omitempty"`       // of a deletion of files: what restores them
	CreatedFolders []string `json:"createdFolders,omitempty"` // of a deletion: the first thousand of the folders
}

// FolderRequest asks for a change of a folder. ToPath and SetID are of a copy or move, Deletion and
// CreatedFolders of a restoration.
type FolderRequest struct {
	Path           string   `json:"path"`
	ToPath         string   `json:"toPath,omitempty"`
	SetID          string   `json:"setId,omitempty"` // "": it stays in its set
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

// ManyFiles are files of a set, and what is to be done with each.
type ManyFiles struct {
	Action string   `json:"action"`           // DeleteMany, RestoreMany, CopyMany or MoveMany
	IDs    []string `json:"ids"`              // 1 to 1,000 different ones
	SetID  string   `json:"setId,omitempty"`  // of a copy or move: where they go; "": the same set
	Folder *string  `json:"folder,omitempty"` // of a copy or move: the folder, with a slash at its end; "": none; nil: names stay
}

// ManyChanged is what became of many files.
type ManyChanged struct {
	Done    int          `json:"done"`
	Results []ManyResult `json:"results"`
}

// ManyResult is what became of one of many files.
type ManyResult struct {
	ID         string `json:"id"`
	ResourceID string `json:"resourceId,omitempty"` // of a copy or move: its id where it went
	Code       string `json:"code,omitempty"`       // why it was refused; "": it was done
	Detail     string `json:"detail,omitempty"`
	Already    bool   `json:"already,omitempty"` // it was so before: deleted, active, or in that place
}
