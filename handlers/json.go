package handlers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"labshelf/auth"
	"labshelf/handlers/internal/encode"
	"labshelf/metadata"
	"labshelf/repository"
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

type setJSON struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	Name         string `json:"name"`
	Title        string `json:"title"`
	Description  string `json:"description"`
	DataspaceID  string `json:"dataspaceId"`
	DataspaceURL string `json:"dataspaceUrl"`
	Resources    string `json:"resources"`
	State        string `json:"state"`
	historyJSON
	Extract  []string        `json:"extract"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

type dataspaceJSON struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Visibility  string `json:"visibility"`
	Origin      string `json:"origin"`
	Resources   string `json:"resources"`
	Sets        string `json:"sets"`
	State       string `json:"state"`
	historyJSON
	Retention string          `json:"retention"`
	Quota     int64           `json:"quota,omitempty"` // shown to sysadmins
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// historyJSON is when and by whom an object was created and modified.
type historyJSON struct {
	Created       string `json:"created"`
	CreatedEpoch  int64  `json:"created_epoch"` // ms
	Modified      string `json:"modified"`
	ModifiedEpoch int64  `json:"modified_epoch"` // ms
	CreatedBy     string `json:"createdBy"`
	ModifiedBy    string `json:"modifiedBy"`
}

// auditJSON leaves out what an entry does not say.
type auditJSON struct {
	Number     uint64          `json:"number"` // from 0
	Time       string          `json:"time"`
	Epoch      int64           `json:"time_epoch"` // ms
	Action     string          `json:"action"`
	User       string          `json:"userId,omitempty"`
	Key        string          `json:"keyId,omitempty"`
	Session    string          `json:"session,omitempty"`
	Request    string          `json:"requestId,omitempty"`
	Cause      uint64          `json:"cause,omitempty"`
	ObjectKind string          `json:"objectKind,omitempty"`
	Object     string          `json:"objectId,omitempty"`
	Dataspace  string          `json:"dataspaceId,omitempty"`
	Set        string          `json:"setId,omitempty"`
	Subject    string          `json:"subjectId,omitempty"`
	Previous   uint64          `json:"previous,omitempty"`
	SHA256     string          `json:"sha256,omitempty"`
	Before     string          `json:"sha256Before,omitempty"`
	Bytes      *uint64         `json:"bytes,omitempty"` // of the file that SHA256 or Before names
	Version    uint64          `json:"version,omitempty"`
	Values     json.RawMessage `json:"values,omitempty"`
	Texts      json.RawMessage `json:"texts,omitempty"`
	Address    string          `json:"address,omitempty"`
	Erased     bool            `json:"erased,omitempty"` // its texts or its address
}

type userJSON struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Username string `json:"username"`
	Fullname string `json:"fullname"`
	About    string `json:"about"`
	Sysadmin *bool  `json:"sysadmin,omitempty"` // shown to sysadmins and oneself
	State    string `json:"state"`
	Quota    int64  `json:"quota,omitempty"` // shown to sysadmins and oneself
}

type keyJSON struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Prefix   string `json:"prefix"`
	Created  string `json:"created"`
	Expires  string `json:"expires,omitempty"`
	LastUsed string `json:"lastUsed,omitempty"`
	MadeWith string `json:"madeWith,omitempty"` // the key with which it ends
	State    string `json:"state"`
	Key      string `json:"key,omitempty"` // only in the answer that made it
}

type privilegeJSON struct {
	ID           string `json:"id"`
	URL          string `json:"url"`
	UserID       string `json:"userId"`
	UserURL      string `json:"userUrl"`
	DataspaceID  string `json:"dataspaceId"`
	DataspaceURL string `json:"dataspaceUrl"`
	Role         string `json:"role"`
	State        string `json:"state"`
}

// presenter shows objects to one caller.
type presenter struct {
	base   string // base URL
	caller auth.Principal
}

func (a *api) presenter(r *request) presenter {
	return presenter{base: a.base(r.Request), caller: r.caller}
}

func (s presenter) set(set metadata.Set) setJSON {
	id, dataspace := set.ID.String(), set.DataspaceID.String()
	address := s.url("sets", id)
	return setJSON{
		ID: id, URL: address, Name: set.Name, Title: set.Title, Description: set.Description,
		DataspaceID: dataspace, DataspaceURL: s.url("dataspaces", dataspace), Resources: address + "/resources",
		State: set.State.String(), historyJSON: history(set.Record),
		Extract: set.Extract.Sources(), Metadata: json.RawMessage(set.Descriptive),
	}
}

func (s presenter) dataspace(d metadata.Dataspace) dataspaceJSON {
	id := d.ID.String()
	address := s.url("dataspaces", id)
	shown := dataspaceJSON{
		ID: id, URL: address, Name: d.Name, Title: d.Title, Description: d.Description, Visibility: d.Visibility.String(),
		Origin: d.Origin, Resources: address + "/resources", Sets: address + "/sets", State: d.State.String(), historyJSON: history(d.Record),
		Retention: d.Retention.String(), Metadata: json.RawMessage(d.Descriptive),
	}
	if s.caller.Sysadmin {
		shown.Quota = d.Quota
	}
	return shown
}

func history(r metadata.Record) historyJSON {
	return historyJSON{
		Created: encode.Instant(r.Created), CreatedEpoch: r.Created.Millis(), Modified: encode.Instant(r.Modified), ModifiedEpoch: r.Modified.Millis(),
		CreatedBy: r.CreatedBy.String(), ModifiedBy: r.ModifiedBy.String(),
	}
}

func (s presenter) user(u metadata.User) userJSON {
	shown := userJSON{
		ID: u.ID.String(), URL: s.url("users", u.ID.String()), Username: u.Username, Fullname: u.Fullname, About: u.About, State: u.State.String(),
	}
	if s.caller.Sysadmin || s.caller.UserID == u.ID {
		shown.Sysadmin, shown.Quota = &u.Sysadmin, u.Quota
	}
	return shown
}

// key shows a key's record as it is at now; the key itself is not in it.
func (s presenter) key(now time.Time) func(metadata.Key) keyJSON {
	return func(k metadata.Key) keyJSON {
		return keyJSON{
			ID: k.ID.String(), Label: k.Label, Prefix: k.Prefix, Created: encode.Instant(k.Created), Expires: encode.Instant(k.Expires),
			LastUsed: encode.Instant(k.LastUsed), MadeWith: idText(k.MadeWith), State: string(k.StateAt(metadata.Stamp(now.UnixMicro()))),
		}
	}
}

func (s presenter) privilege(p metadata.Privilege) privilegeJSON {
	id, user, dataspace := p.ID.String(), p.UserID.String(), p.DataspaceID.String()
	return privilegeJSON{
		ID: id, URL: s.url("privileges", id), UserID: user, UserURL: s.url("users", user),
		DataspaceID: dataspace, DataspaceURL: s.url("dataspaces", dataspace), Role: p.Role.String(), State: p.State.String(),
	}
}

func (s presenter) url(kind, id string) string { return s.base + "/" + kind + "/" + id }

// fieldsOf returns an object as a client sees it, field by field, in the types that a request is
// decoded to.
func fieldsOf[T, J any](show func(T) J) func(T) repository.Fields {
	return func(object T) repository.Fields { return decoded(encode.JSON(show(object))) }
}

func decoded(object []byte) repository.Fields {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	fields := repository.Fields{}
	if err := decoder.Decode(&fields); err != nil {
		panic(err) // it has just been encoded
	}
	return fields
}
