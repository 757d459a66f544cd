package handlers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"labshelf/auth"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/core"
)

func writeBody(w http.ResponseWriter, status int, contentType string, body []byte) {
	_ = sendBody(w, status, contentType, body) // a client that went away gets no error
}

// sendBody is writeBody for a body in a pooled buffer, which must not be reused after an error:
// HTTP/2 returns one as soon as the client has reset the stream, and may read the buffer after
// that.
func sendBody(w http.ResponseWriter, status int, contentType string, body []byte) error {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

const jsonType = "application/json; charset=utf-8"

func writeJSON(w http.ResponseWriter, status int, v any) {
	writeBody(w, status, jsonType, encode.JSON(v))
}

// writeRecord answers with an object and the ETag of its version.
func writeRecord(w http.ResponseWriter, r *request, status int, tag string, v any) {
	if !notModified(w, r, tag) {
		writeJSON(w, status, v)
	}
}

// notModified sets the ETag of a version, and answers a client that has it already.
func notModified(w http.ResponseWriter, r *request, tag string) bool {
	w.Header().Set("ETag", `"`+tag+`"`)
	reading := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reading || !parseETags(r.Header.Values("If-None-Match")).Weak(tag) {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}

// writeCreated answers with a new object.
func writeCreated(w http.ResponseWriter, r *request, url, tag string, v any) {
	w.Header().Set("Location", url)
	writeRecord(w, r, http.StatusCreated, tag, v)
}

// The objects as the interface sends them: fields in the order of its tables, added fields last.
// Resources, which are many, are written by a layout.

// presenter shows objects to one caller.
type presenter struct {
	base   string // base URL
	caller auth.Principal
}

func (a *api) presenter(r *request) presenter {
	return presenter{base: a.base(r.Request), caller: r.caller}
}

func (s presenter) set(set metadata.Set) wire.Set {
	id, dataspace := set.ID.String(), set.DataspaceID.String()
	address := s.url("sets", id)
	return wire.Set{
		ID: id, URL: address, Name: set.Name, Title: set.Title, Description: set.Description,
		DataspaceID: dataspace, DataspaceURL: s.url("dataspaces", dataspace), Resources: address + "/resources",
		State: set.State.String(), History: history(set.Record),
		Extract: set.Extract.Sources(), Metadata: wire.Metadata(set.Descriptive),
	}
}

func (s presenter) dataspace(d metadata.Dataspace) wire.Dataspace {
	id := d.ID.String()
	address := s.url("dataspaces", id)
	shown := wire.Dataspace{
		ID: id, URL: address, Name: d.Name, Title: d.Title, Description: d.Description, Visibility: d.Visibility.String(),
		Origin: d.Origin, Resources: address + "/resources", Sets: address + "/sets", State: d.State.String(), History: history(d.Record),
		Retention: d.Retention.String(), Metadata: wire.Metadata(d.Descriptive),
	}
	if s.caller.Sysadmin {
		shown.Quota = d.Quota
	}
	return shown
}

func history(r metadata.Record) wire.History {
	return wire.History{
		Created: encode.Time(r.Created), CreatedEpoch: encode.Epoch(r.Created), Modified: encode.Time(r.Modified), ModifiedEpoch: encode.Epoch(r.Modified),
		CreatedBy: r.CreatedBy.String(), ModifiedBy: r.ModifiedBy.String(),
	}
}

func (s presenter) user(u metadata.User) wire.User {
	shown := wire.User{
		ID: u.ID.String(), URL: s.url("users", u.ID.String()), Username: u.Username, Fullname: u.Fullname, About: u.About, State: u.State.String(),
	}
	if s.caller.Sysadmin || s.caller.UserID == u.ID {
		shown.Sysadmin, shown.Quota = &u.Sysadmin, u.Quota
	}
	return shown
}

// key shows a key's record as it is at now; the key itself is not in it.
func (s presenter) key(now time.Time) func(metadata.Key) wire.Key {
	return func(k metadata.Key) wire.Key {
		return wire.Key{
			ID: k.ID.String(), Label: k.Label, Prefix: k.Prefix, Created: encode.Time(k.Created), Expires: encode.Time(k.Expires),
			LastUsed: encode.Time(k.LastUsed), MadeWith: idText(k.MadeWith), State: string(k.StateAt(metadata.Stamp(now.UnixMicro()))),
		}
	}
}

func (s presenter) privilege(p metadata.Privilege) wire.Privilege {
	id, user, dataspace := p.ID.String(), p.UserID.String(), p.DataspaceID.String()
	return wire.Privilege{
		ID: id, URL: s.url("privileges", id), UserID: user, UserURL: s.url("users", user),
		DataspaceID: dataspace, DataspaceURL: s.url("dataspaces", dataspace), Role: p.Role.String(), State: p.State.String(),
	}
}

func (s presenter) url(kind, id string) string { return s.base + "/" + kind + "/" + id }

// fieldsOf returns an object as a client sees it, field by field, in the types that a request is
// decoded to.
func fieldsOf[T, J any](show func(T) J) func(T) core.Fields {
	return func(object T) core.Fields { return decoded(encode.JSON(show(object))) }
}

func decoded(object []byte) core.Fields {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	fields := core.Fields{}
	if err := decoder.Decode(&fields); err != nil {
		panic(err) // it has just been encoded
	}
	return fields
}
