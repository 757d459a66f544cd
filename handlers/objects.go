package handlers

import (
	"bytes"
	"encoding/json"
	"time"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository"
)

// The objects as the interface sends them: fields in the order of its tables, added fields last. Resources, which are many, are
// written by a layout.

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
}

// historyJSON is when and by whom.
type historyJSON struct {
	Created       string `json:"created"`
	CreatedEpoch  int64  `json:"created_epoch"` // ms
	Modified      string `json:"modified"`
	ModifiedEpoch int64  `json:"modified_epoch"` // ms
	CreatedBy     string `json:"createdBy"`
	ModifiedBy    string `json:"modifiedBy"`
}

type userJSON struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Username string `json:"username"`
	Fullname string `json:"fullname"`
	About    string `json:"about"`
	Sysadmin *bool  `json:"sysadmin,omitempty"` // shown to sysadmins and oneself
	State    string `json:"state"`
}

type keyJSON struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	Prefix   string `json:"prefix"`
	Created  string `json:"created"`
	Expires  string `json:"expires,omitempty"`
	LastUsed string `json:"lastUsed,omitempty"`
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

// shower shows objects to one caller.
type shower struct {
	base   string // base URL
	caller auth.Principal
}

func (a *api) shower(r *request) shower { return shower{base: a.base(r), caller: r.caller} }

func (s shower) set(set metadata.Set) setJSON {
	id, dataspace := set.ID.String(), set.DataspaceID.String()
	address := s.url("sets", id)
	return setJSON{
		ID: id, URL: address, Name: set.Name, Title: set.Title, Description: set.Description,
		DataspaceID: dataspace, DataspaceURL: s.url("dataspaces", dataspace), Resources: address + "/resources",
		State: set.State.String(), historyJSON: history(set.Record),
	}
}

func (s shower) dataspace(d metadata.Dataspace) dataspaceJSON {
	id := d.ID.String()
	address := s.url("dataspaces", id)
	return dataspaceJSON{
		ID: id, URL: address, Name: d.Name, Title: d.Title, Description: d.Description, Visibility: d.Visibility.String(),
		Origin: d.Origin, Resources: address + "/resources", Sets: address + "/sets", State: d.State.String(), historyJSON: history(d.Record),
	}
}

func history(r metadata.Record) historyJSON {
	return historyJSON{
		Created: instant(r.Created), CreatedEpoch: r.Created.Millis(), Modified: instant(r.Modified), ModifiedEpoch: r.Modified.Millis(),
		CreatedBy: r.CreatedBy.String(), ModifiedBy: r.ModifiedBy.String(),
	}
}

func (s shower) user(u metadata.User) userJSON {
	shown := userJSON{
		ID: u.ID.String(), URL: s.url("users", u.ID.String()), Username: u.Username, Fullname: u.Fullname, About: u.About, State: u.State.String(),
	}
	if s.caller.Sysadmin || s.caller.UserID == u.ID {
		shown.Sysadmin = &u.Sysadmin
	}
	return shown
}

// key shows a key's record as it is at now; the key itself is not in it.
func (s shower) key(now time.Time) func(metadata.Key) keyJSON {
	return func(k metadata.Key) keyJSON {
		return keyJSON{
			ID: k.ID.String(), Label: k.Label, Prefix: k.Prefix, Created: instant(k.Created), Expires: instant(k.Expires),
			LastUsed: instant(k.LastUsed), State: string(k.StateAt(metadata.Stamp(now.UnixMicro()))),
		}
	}
}

func (s shower) privilege(p metadata.Privilege) privilegeJSON {
	id, user, dataspace := p.ID.String(), p.UserID.String(), p.DataspaceID.String()
	return privilegeJSON{
		ID: id, URL: s.url("privileges", id), UserID: user, UserURL: s.url("users", user),
		DataspaceID: dataspace, DataspaceURL: s.url("dataspaces", dataspace), Role: p.Role.String(), State: p.State.String(),
	}
}

func (s shower) url(kind, id string) string { return s.base + "/" + kind + "/" + id }

// instant writes a stamp as the interface does; no stamp is "".
func instant(s metadata.Stamp) string {
	return string(appendInstant(nil, s))
}

// kilobytes rounds to the nearest KiB, but never a file with something in it to nothing.
func kilobytes(n int64) int64 {
	if n == 0 {
		return 0
	}
	return max(1, (n+512)/1024)
}

// fieldsOf returns an object as a client sees it, field by field, in the types that a request is decoded to.
func fieldsOf[T, J any](show func(T) J) func(T) repository.Fields {
	return func(object T) repository.Fields { return decoded(encode(show(object))) }
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
