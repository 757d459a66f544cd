package metadata

import (
	"labshelf/blobs"
)

// Folder is a folder of a set that was created explicitly, or has properties. All other folders
// follow from the names of files.
type Folder struct {
	SetID      ID
	Path       string // as in names, with a trailing slash; "": the set itself, which may have properties
	Properties string // properties of clients, in a form of package dav; "": none
	Created    Stamp  // clock reading, not a stamp, so that followers of changes do not see the row
	CreatedBy  ID     // user
}

// FolderKey identifies a folder.
type FolderKey struct {
	SetID ID
	Path  string
}

// Key is the key of the folder.
func (f Folder) Key() FolderKey { return FolderKey{f.SetID, f.Path} }

// Folders is the table of folders.
type Folders interface {
	Table[FolderKey, Folder]
	Forwards[FolderKey, Folder]
}

// FileProperties are the properties that clients of /dav/ keep with a file. A file without
// properties has no row. The row has no stamp.
type FileProperties struct {
	ResourceID ID
	Properties string         // in a form of package dav
	Attributes FileAttributes // in rows of schema 15 and later
}

// FileAttributes describe the content of a file on a drive.
type FileAttributes struct {
	Timed    bool   // a client has set the modification time
	Modified int64  // that time in microseconds since 1970
	Version  uint32 // version of the resource with this modification time

	Digest blobs.Digest // content with these checksums; zero: unknown
	SHA1   [20]byte
	MD5    [16]byte
}
