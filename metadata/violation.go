package metadata

import "fmt"

// The parts of a data directory in which a check can find violations.
const (
	PartPages   = "pages"   // pages of the metadata file; kind page
	PartRows    = "rows"    // records compared with index entries; the kind is the table or index
	PartRules   = "rules"   // records that violate rules of the repository
	PartBlobs   = "blobs"   // file contents that differ from the records
	PartHistory = "history" // metadata that differ from the ones that the files belong to
	PartFiles   = "files"   // files that do not belong into the data directory, or have a wrong form
)

// Violation is one finding of a check.
type Violation struct {
	Part  string
	Kind  string // dataspace, set, resource, version (ID of its resource), user, key, privilege, step, entry (ID is the number in the audit log), or a kind of the part
	ID    string // an id, a digest, a page number, a key in hex, or ""
	Name  string // name of the object for people, or ""
	Wrong string // description of the error
}

// String returns the object and the error.
func (v Violation) String() string {
	of := v.Kind
	if v.ID != "" {
		of += " " + v.ID
	}
	if v.Name != "" {
		of += fmt.Sprintf(" %q", v.Name)
	}
	return fmt.Sprintf("%s: %s: %s", v.Part, of, v.Wrong)
}
