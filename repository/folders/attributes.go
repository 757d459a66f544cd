package folders

import (
	"time"

	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// ModifiedAt returns the modification time of the file: the time set by its client, or else the
// time in its record.
func (e *DriveEntry) ModifiedAt() metadata.Stamp {
	if a := e.Attributes; a.Timed && a.Version == e.File.Version {
		return metadata.Stamp(a.Modified)
	}
	return e.File.Modified
}

// Checksums returns the checksums of the file, if they are known.
func (e *DriveEntry) Checksums() (sums files.Checksums, known bool) {
	a := e.Attributes
	return files.Checksums{SHA1: a.SHA1, MD5: a.MD5}, a.Digest == e.File.Digest
}

// SetModified sets the modification time of the file. It is for callbacks of ChangeProperties.
func (e *DriveEntry) SetModified(at time.Time) error {
	if e.File == nil {
		return core.Forbidden("a folder has no modification time of its own")
	}
	return files.SetModified(&e.Attributes, "", e.File.Version, at)
}

// keepProperties stores the properties of a file, or removes an empty row.
func keepProperties(tx *metadata.Tx, row metadata.FileProperties) error {
	if row.Properties == "" && row.Attributes == (metadata.FileAttributes{}) {
		return tx.FileProperties.Remove(row.ResourceID)
	}
	return tx.FileProperties.Put(row)
}
