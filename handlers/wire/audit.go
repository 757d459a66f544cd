package wire

import "encoding/json"

// AuditEntry is an entry of the audit log. Empty fields are omitted.
type AuditEntry struct {
	Number       uint64 `json:"number"` // from 0
	Time         Time   `json:"time"`
	Epoch        Epoch  `json:"time_epoch,omitzero"`
	Action       string `json:"action"`               // such as resource.replace
	UserID       string `json:"userId,omitempty"`     // the acting user; "": an operator with the data directory, or the service itself
	KeyID        string `json:"keyId,omitempty"`      // key of the user
	Session      string `json:"session,omitempty"`    // session of that key
	RequestID    string `json:"requestId,omitempty"`  // the request that caused the entry
	Cause        uint64 `json:"cause,omitempty"`      // number of the entry that caused this one
	ObjectKind   string `json:"objectKind,omitempty"` // dataspace, set, resource, user, key or webhook
	ObjectID     string `json:"objectId,omitempty"`
	DataspaceID  string `json:"dataspaceId,omitempty"`  // dataspace in which the object was created
	SetID        string `json:"setId,omitempty"`        // set in which the object was created
	SubjectID    string `json:"subjectId,omitempty"`    // user who has the role or the key
	Previous     uint64 `json:"previous,omitempty"`     // number of the previous entry about the object
	SHA256       string `json:"sha256,omitempty"`       // new digest of the file
	SHA256Before string `json:"sha256Before,omitempty"` // previous digest of the file
	Bytes        *int64 `json:"bytes,omitempty"`        // length of the file with SHA256, or SHA256Before if SHA256 is empty
	Version      int64  `json:"version,omitempty"`      // number of the created or affected version

	Values  json.RawMessage `json:"values,omitempty"`  // an object with the new values, or with before and now
	Texts   json.RawMessage `json:"texts,omitempty"`   // like Values
	Address string          `json:"address,omitempty"` // client address
	Erased  bool            `json:"erased,omitempty"`  // texts or the address were erased
}

// AuditHead is the state of the audit log at one size.
type AuditHead struct {
	Origin string `json:"origin"` // name of the repository and its epoch
	Size   uint64 `json:"size"`   // number of entries
	Root   []byte `json:"root"`   // root of the Merkle tree
	Head   string `json:"head"`   // signed note with origin, size and root
	Key    string `json:"key"`    // public key of the signature
}

// AuditProof holds the hashes that lead from an entry, or from the root of a smaller log, to a
// root.
type AuditProof struct {
	Hashes [][]byte `json:"hashes"`
}

// Event is a change of an object. It contains no names; read the object for them.
type Event struct {
	Kind        string      `json:"kind"`                  // action, such as resource.replace
	Object      EventObject `json:"object,omitzero"`       // zero if the event has no object with an id
	DataspaceID string      `json:"dataspaceId,omitempty"` // dataspace of the object, or the object itself; "": none
	SetID       string      `json:"setId,omitempty"`       // set of the object, or the object itself; "": none
}

// EventObject names the object of an event.
type EventObject struct {
	Kind string `json:"kind"` // dataspace, set, resource, user, key or webhook
	ID   string `json:"id"`
}
