package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"

	"labshelf/handlers/wire"
)

// Audit are the calls about the audit log.
type Audit struct{ c *caller }

// List lists entries of the audit log, the newest first: for a sysadmin all, for an admin the
// entries of the admin's dataspaces. It takes UserID, ObjectID, Action, Since, Until, Order and
// Limit.
func (s Audit) List(ctx context.Context, o ListOptions) iter.Seq2[AuditEntry, error] {
	return list[AuditEntry](ctx, s.c, o, "audit")
}

// History lists the changes of a dataspace, a set or a resource, the newest first. kind is
// dataspaces, sets or resources. It takes Limit.
func (s Audit) History(ctx context.Context, kind, id string, o ListOptions) iter.Seq2[AuditEntry, error] {
	return list[AuditEntry](ctx, s.c, o, kind, id, "history")
}

// Head returns the signed head of the first size entries; a negative size means all.
func (s Audit) Head(ctx context.Context, size int64) (head AuditHead, err error) {
	path := at("audit", "head")
	if size >= 0 {
		path += "?size=" + strconv.FormatInt(size, 10)
	}
	err = s.c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error {
		return read(response, &head)
	})
	return head, err
}

// Export opens an export of the whole log, which the caller closes. A truncated export does not
// verify. It is for sysadmins.
func (s Audit) Export(ctx context.Context) (export io.ReadCloser, err error) {
	err = s.c.run(ctx, request{method: http.MethodGet, path: at("audit", "export")}, func(response *http.Response) error {
		export = bodyReader{response.Body}
		return typed(response, "application/jsonl")
	})
	return export, err
}

// Proof returns the hashes from an entry to the root of the first size entries.
func (s Audit) Proof(ctx context.Context, entry, size uint64) (hashes [][]byte, err error) {
	path := fmt.Sprintf("%s?entry=%d&size=%d", at("audit", "proof"), entry, size)
	var proof wire.AuditProof
	err = s.c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error { return read(response, &proof) })
	return proof.Hashes, err
}

// Erase erases the texts and the address of an entry, permanently. It is for sysadmins.
func (s Audit) Erase(ctx context.Context, number uint64) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("audit", "entries", strconv.FormatUint(number, 10), "texts")})
}
