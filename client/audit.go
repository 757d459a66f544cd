package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// AuditEntry is an entry of the audit log. What it does not say is zero.
type AuditEntry struct {
	Number       uint64    `json:"number"`     // from 0
	Time         time.Time `json:"time"`       // UTC, to the millisecond
	Action       string    `json:"action"`     // such as resource.replace
	UserID       string    `json:"userId"`     // who did it; "": an operator with the data directory, or the service itself
	KeyID        string    `json:"keyId"`      // with which key
	Session      string    `json:"session"`    // with which session of that key
	RequestID    string    `json:"requestId"`  // in which request
	Cause        uint64    `json:"cause"`      // number of the entry of which this is a consequence
	ObjectKind   string    `json:"objectKind"` // dataspace, set, resource, user, key or webhook
	ObjectID     string    `json:"objectId"`
	DataspaceID  string    `json:"dataspaceId"`  // in which the object was made
	SetID        string    `json:"setId"`        // in which the object was made
	SubjectID    string    `json:"subjectId"`    // the user who has the role or the key
	Previous     uint64    `json:"previous"`     // number of the entry about the object before this one
	SHA256       string    `json:"sha256"`       // of the file now
	SHA256Before string    `json:"sha256Before"` // of the file before
	Bytes        int64     `json:"bytes"`        // length of the file
	Version      int64     `json:"version"`      // number of the version that was made, or that it is about

	Values  map[string]any `json:"values"`  // what they are now, or a map with before and now
	Texts   map[string]any `json:"texts"`   // likewise
	Address string         `json:"address"` // from which it was done
	Erased  bool           `json:"erased"`  // texts or address were erased
}

func (e *AuditEntry) identify(string) string { return strconv.FormatUint(e.Number, 10) }

// Audit lists entries of the audit log, the newest first: a sysadmin sees all, an admin those about
// the own dataspaces. It takes UserID, ObjectID, Action, Since, Until, Order and Limit.
func (c *Client) Audit(ctx context.Context, o ListOptions) iter.Seq2[AuditEntry, error] {
	return list[AuditEntry](ctx, c, o, "audit")
}

// History lists what was done to a dataspace, a set or a resource, the newest first. kind is
// dataspaces, sets or resources. It takes Limit.
func (c *Client) History(ctx context.Context, kind, id string, o ListOptions) iter.Seq2[AuditEntry, error] {
	return list[AuditEntry](ctx, c, o, kind, id, "history")
}

// AuditHead is the state of the audit log at one size.
type AuditHead struct {
	Origin string `json:"origin"` // names the repository and its epoch
	Size   uint64 `json:"size"`   // entries
	Root   []byte `json:"root"`   // of their Merkle tree
	Head   string `json:"head"`   // the three with a signature, as a note of several lines
	Key    string `json:"key"`    // the public key of the signature
}

// AuditHead returns the signed head of the first size entries; a negative size: of all.
func (c *Client) AuditHead(ctx context.Context, size int64) (head AuditHead, err error) {
	path := at("audit", "head")
	if size >= 0 {
		path += "?size=" + strconv.FormatInt(size, 10)
	}
	err = c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error {
		return read(response, &head)
	})
	return head, err
}

// AuditExport opens an export of the whole log, which the caller closes. One that is cut off does
// not verify. It is for sysadmins.
func (c *Client) AuditExport(ctx context.Context) (export io.ReadCloser, err error) {
	err = c.run(ctx, request{method: http.MethodGet, path: at("audit", "export")}, func(response *http.Response) error {
		export = bodyReader{response.Body}
		return typed(response, "application/jsonl")
	})
	return export, err
}

// AuditProof returns the hashes that lead from an entry to the root of the first size entries.
func (c *Client) AuditProof(ctx context.Context, entry, size uint64) (hashes [][]byte, err error) {
	path := fmt.Sprintf("%s?entry=%d&size=%d", at("audit", "proof"), entry, size)
	var proof struct {
		Hashes [][]byte `json:"hashes"`
	}
	err = c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error { return read(response, &proof) })
	return proof.Hashes, err
}

// EraseAudit erases the texts and the address of an entry, for good. It is for sysadmins.
func (c *Client) EraseAudit(ctx context.Context, number uint64) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("audit", "entries", strconv.FormatUint(number, 10), "texts")})
}
