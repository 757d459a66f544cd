package metadata

import (
	"labshelf/blobs"
)

// Folder is a folder of a set that was made by itself, or has properties. All others follow from
// the names of files.
type Folder struct {
	SetID      ID
	Path       string // as in names, with a slash at its end; "": the set itself, of which there are properties
	Properties string // of clients, in a form of package dav; "": none
	Created    Stamp  // the clock: a row without a stamp, so that nobody who follows changes hears of it
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

// FileProperties are what clients of /dav/ keep with a file. One without any has no row, and the
// row has no stamp.
type FileProperties struct {
	ResourceID ID
	Properties string         // in a form of package dav
	Attributes FileAttributes // in rows of schema 15 and later
}

// FileAttributes describe the content of a file, as a drive shows it.
type FileAttributes struct {
	Timed    bool   // a client has given the time of the last modification
	Modified int64  // that time in microseconds since 1970
	Version  uint32 // of the resource, whose time it is

	Digest blobs.Digest // of the content that has the checksums; zero: they are not known
	SHA1   [20]byte
	MD5    [16]byte
}
