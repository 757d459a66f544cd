package wire

import "encoding/json"

// AuditEntry is an entry of the audit log. It leaves out what the entry does not say.
type AuditEntry struct {
	Number       uint64 `json:"number"` // from 0
	Time         Time   `json:"time"`
	Epoch        Epoch  `json:"time_epoch,omitzero"`
	Action       string `json:"action"`               // such as resource.replace
	UserID       string `json:"userId,omitempty"`     // the user who did it; "": an operator with the data directory, or the service itself
	KeyID        string `json:"keyId,omitempty"`      // with which key
	Session      string `json:"session,omitempty"`    // with which session of that key
	RequestID    string `json:"requestId,omitempty"`  // in which request
	Cause        uint64 `json:"cause,omitempty"`      // number of the entry of which this is a consequence
	ObjectKind   string `json:"objectKind,omitempty"` // dataspace, set, resource, user, key or webhook
	ObjectID     string `json:"objectId,omitempty"`
	DataspaceID  string `json:"dataspaceId,omitempty"`  // in which the object was created
	SetID        string `json:"setId,omitempty"`        // in which the object was created
	SubjectID    string `json:"subjectId,omitempty"`    // the user who has the role or the key
	Previous     uint64 `json:"previous,omitempty"`     // number of the entry about the object before this one
	SHA256       string `json:"sha256,omitempty"`       // of the file now
	SHA256Before string `json:"sha256Before,omitempty"` // of the file before
	Bytes        *int64 `json:"bytes,omitempty"`        // length of the file that one of the digests names
	Version      int64  `json:"version,omitempty"`      // number of the version that was created, or that it is about

	Values  json.RawMessage `json:"values,omitempty"`  // an object: what they are now, or a map with before and now
	Texts   json.RawMessage `json:"texts,omitempty"`   // likewise
	Address string          `json:"address,omitempty"` // from which it was done
	Erased  bool            `json:"erased,omitempty"`  // texts or address were erased
}

// AuditHead is the state of the audit log at one size.
type AuditHead struct {
	Origin string `json:"origin"` // names the repository and its epoch
	Size   uint64 `json:"size"`   // entries
	Root   []byte `json:"root"`   // of their Merkle tree
	Head   string `json:"head"`   // the three with a signature, as a note of several lines
	Key    string `json:"key"`    // the public key of the signature
}

// AuditProof is the hashes that lead from an entry, or from the root of a smaller log, to a root.
type AuditProof struct {
	Hashes [][]byte `json:"hashes"`
}

// Event is something that happened to an object. It has no names: read the object.
type Event struct {
	Kind        string      `json:"kind"`                  // the action, such as resource.replace
	Object      EventObject `json:"object,omitzero"`       // zero: nothing that has an id
	DataspaceID string      `json:"dataspaceId,omitempty"` // that the object is in, or is; "": none
	SetID       string      `json:"setId,omitempty"`       // likewise
}

// EventObject is what an event is about.
type EventObject struct {
	Kind string `json:"kind"` // dataspace, set, resource, user, key or webhook
	ID   string `json:"id"`
}
