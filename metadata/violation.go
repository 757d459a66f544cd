package metadata

import "fmt"

// The parts of a data directory in which something can be wrong.
const (
	PartPages   = "pages"   // of the metadata file; kind page
	PartRows    = "rows"    // records and index entries against each other; the kind is the table or index
	PartRules   = "rules"   // of the repository, which the records break
	PartBlobs   = "blobs"   // the files' contents against the records
	PartHistory = "history" // the metadata against those that the files belong to
	PartFiles   = "files"   // what lies in the data directory and does not belong there, or not so
)

// Violation is one thing that is not as it must be.
type Violation struct {
	Part  string
	Kind  string // of object: dataspace, set, resource, user, key, privilege, step; or what the part says
	ID    string // which one: an id, a digest, the number of a page, a key in hex; or ""
	Name  string // as people know the object, or ""
	Wrong string // what is wrong
}

// String says where and what.
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
