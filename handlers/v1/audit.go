package v1

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"

	"labshelf/formats/audit"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/paging"
	"labshelf/repository/core"
)

// Audit serves the audit log.
type Audit struct{ *api }

// List answers with a page of the audit log.
func (a Audit) List(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.AuditLog.List(r.Context(), r.Caller, r.List(paging.AuditEntries))
	if err == nil {
		writePage(a.api, w, r, page, auditEntry)
	}
	return err
}

// History returns a handler that answers with a page of the entries about one object.
func (a Audit) History(of paging.Listing) func(w http.ResponseWriter, r *exchange.Request) error {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		page, err := a.repo.AuditLog.History(r.Context(), r.Caller, of, r.List(of))
		if err == nil {
			writePage(a.api, w, r, page, auditEntry)
		}
		return err
	}
}

// auditEntry returns an entry in its wire form.
func auditEntry(e core.AuditEntry) wire.AuditEntry {
	stamp := e.Time()
	shown := wire.AuditEntry{
		Number: e.Number, Time: encode.Time(stamp), Epoch: encode.Epoch(stamp), Action: actionWord(e.Action),
		UserID: encode.OptionalID(e.User), KeyID: encode.OptionalID(e.Key), Cause: e.Cause, ObjectKind: e.Object.Kind.String(), ObjectID: encode.OptionalID(e.Object.ID),
		DataspaceID: encode.OptionalID(e.Dataspace), SetID: encode.OptionalID(e.Set), SubjectID: encode.OptionalID(e.Subject), Previous: e.Previous,
		SHA256: digestText(e.Digest), SHA256Before: digestText(e.Before), Version: int64(e.Version), Address: e.AddressNow,
		Values: json.RawMessage(e.Values), Texts: json.RawMessage(e.TextsNow),
		Erased: e.Erased,
	}
	if e.Digest != ([32]byte{}) || e.Before != ([32]byte{}) {
		bytes := int64(e.Bytes)
		shown.Bytes = &bytes
	}
	if e.Session != ([8]byte{}) {
		shown.Session = hex.EncodeToString(e.Session[:])
	}
	if e.Request != ([16]byte{}) {
		shown.RequestID = exchange.RequestID(e.Request[:])
	}
	return shown
}

// actionWord returns the name of an action, or "action N" for an action of a later version.
func actionWord(a audit.Action) string {
	if word := a.String(); word != "" {
		return word
	}
	return fmt.Sprintf("action %d", a)
}

func digestText(digest [32]byte) string {
	if digest == ([32]byte{}) {
		return ""
	}
	return hex.EncodeToString(digest[:])
}

// Head answers with the signed head of the log. The query may select an earlier size.
func (a Audit) Head(w http.ResponseWriter, r *exchange.Request) error {
	head, err := a.repo.AuditLog.Head(r.Context(), r.Caller, input.AuditTree(r.Query))
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, wire.AuditHead{Origin: head.Origin.String(), Size: head.Size, Root: head.Root[:], Head: head.Signed, Key: head.Key})
	}
	return err
}

// Proof answers with the proof that the log contains an entry or extends an earlier log.
func (a Audit) Proof(w http.ResponseWriter, r *exchange.Request) error {
	proof, err := a.repo.AuditLog.Proof(r.Context(), r.Caller, input.AuditClaim(r.Query))
	if err != nil {
		return err
	}
	hashes := make([][]byte, len(proof))
	for i := range proof {
		hashes[i] = proof[i][:]
	}
	exchange.WriteJSON(w, http.StatusOK, wire.AuditProof{Hashes: hashes})
	return nil
}

// Export streams the whole log. An error in the middle cuts the connection, so that the client does
// not take a part for the whole.
func (a Audit) Export(w http.ResponseWriter, r *exchange.Request) error {
	head, entries, err := a.repo.AuditLog.Export(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/jsonl")
	w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	out, err := audit.NewExport(w, audit.ExportHeader{Origin: head.Origin, Key: head.Key, Head: head.Signed})
	for e, failed := range entries {
		if err == nil {
			err = failed
		}
		if err == nil {
			err = out.Add(audit.ExportEntry{Leaf: e.Leaf, Texts: e.Texts, Address: e.Address})
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		exchange.NoteError(w, err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// Erase erases the texts of an entry.
func (a Audit) Erase(w http.ResponseWriter, r *exchange.Request) error {
	return exchange.WriteNothing(w, "", a.repo.AuditLog.Erase(r.Context(), r.Caller, r.Number()))
}
