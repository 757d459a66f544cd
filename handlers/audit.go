package handlers

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/wire"
	"labshelf/paging"
	"labshelf/repository/core"
)

// auditRoutes serves the audit log and the events.
type auditRoutes struct{ *api }

func (a auditRoutes) listAudit(w http.ResponseWriter, r *exchange.Request) error {
	page, err := a.repo.AuditLog.ListAudit(r.Context(), r.Caller, r.List())
	if err == nil {
		writePage(a.api, w, r, page, auditEntry)
	}
	return err
}

func (a auditRoutes) listHistory(of paging.Listing) func(w http.ResponseWriter, r *exchange.Request) error {
	return func(w http.ResponseWriter, r *exchange.Request) error {
		page, err := a.repo.AuditLog.History(r.Context(), r.Caller, of, r.List())
		if err == nil {
			writePage(a.api, w, r, page, auditEntry)
		}
		return err
	}
}

// auditEntry is an entry as JSON.
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

// actionWord is the word of an action; a number for one of a later version.
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

func (a auditRoutes) getAuditHead(w http.ResponseWriter, r *exchange.Request) error {
	head, err := a.repo.AuditLog.AuditHead(r.Context(), r.Caller, r.Query.Get("size"))
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, wire.AuditHead{Origin: head.Origin.String(), Size: head.Size, Root: head.Root[:], Head: head.Signed, Key: head.Key})
	}
	return err
}

func (a auditRoutes) getAuditProof(w http.ResponseWriter, r *exchange.Request) error {
	proof, err := a.repo.AuditLog.AuditProof(r.Context(), r.Caller, r.Query.Get("entry"), r.Query.Get("from"), r.Query.Get("size"))
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

// exportAudit streams the whole log. An error in the middle of it cuts the connection, so that a
// part is not taken for all of it.
func (a auditRoutes) exportAudit(w http.ResponseWriter, r *exchange.Request) error {
	head, entries, err := a.repo.AuditLog.ExportAudit(r.Context(), r.Caller)
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

func (a auditRoutes) eraseAudit(w http.ResponseWriter, r *exchange.Request) error {
	return exchange.WriteNothing(w, "", a.repo.AuditLog.EraseAudit(r.Context(), r.Caller, r.Number()))
}

const (
	reconnect  = "retry: 3000\n" // milliseconds after which a browser connects again
	retryAfter = "30"            // seconds, where there are too many streams
)

// followEvents sends what happens while it happens, as server-sent events, until the client goes,
// its key or session has ended, or the service stops. A client that connects again says by
// Last-Event-ID where it was; a browser's window that takes over from another one, by after.
func (a auditRoutes) followEvents(w http.ResponseWriter, r *exchange.Request) error {
	after := cmp.Or(r.Header.Get("Last-Event-ID"), r.Query.Get("after"))
	stream, err := a.repo.Events.Open(r.Context(), r.Caller, after)
	if err != nil {
		if known, is := errors.AsType[*errs.Error](err); is && known.Code == errs.CodeTooManyStreams {
			w.Header().Set("Retry-After", retryAfter)
		}
		return err
	}
	defer stream.Close()
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // or nginx would keep events until they fill a buffer
	if r.Method == http.MethodHead {
		return nil
	}
	control, opening := http.NewResponseController(w), reconnect
	for {
		began := time.Now()
		batch, err := stream.Next(r.Context())
		exchange.NoteIdle(w, time.Since(began))
		if err != nil {
			if r.Context().Err() == nil && exchange.PublicError(err).Kind == errs.Internal {
				exchange.NoteError(w, err)
			}
			return nil // the answer has begun: the client connects again, and hears why not
		}
		text := append([]byte(opening), encode.Events(batch)...)
		opening = ""
		if _, err := w.Write(text); err != nil || control.Flush() != nil {
			return nil // the client is gone
		}
	}
}
