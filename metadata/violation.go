package metadata

import "fmt"

// The parts of a data directory in which a check can find violations.
const (
	PartPages   = "pages"   // of the metadata file; kind page
	PartRows    = "rows"    // records and index entries against each other; the kind is the table or index
	PartRules   = "rules"   // the records against the rules of the repository
	PartBlobs   = "blobs"   // the files' contents against the records
	PartHistory = "history" // the metadata against those that the files belong to
	PartFiles   = "files"   // files that do not belong into the data directory, or not in that form
)

// Violation is one finding of a check.
type Violation struct {
	Part  string
	Kind  string // of object: dataspace, set, resource, version (its resource is the ID), user, key, privilege, step, entry (of the audit log, the ID its number); or what the part says
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
