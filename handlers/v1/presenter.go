package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"labshelf/auth"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/core"
)

// The functions in this file return objects in their wire form. Fields have the order of the API's
// tables, with later additions last. Resources use a layout, since a page has many of them.

// presenter converts objects to their wire form for one caller.
type presenter struct {
	base   string // base URL
	caller auth.Principal
}

func (a *api) presenter(r *exchange.Request) presenter {
	return presenter{base: a.hosts.Base(r.Request), caller: r.Caller}
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
	return encode.User(s.base, u, s.caller.Sysadmin || s.caller.UserID == u.ID)
}

// key returns a function that converts the record of a key, with its state at now. The record does
// not contain the key itself.
func (s presenter) key(now time.Time) func(metadata.Key) wire.Key {
	return func(k metadata.Key) wire.Key {
		return wire.Key{
			ID: k.ID.String(), Label: k.Label, Prefix: k.Prefix, Created: encode.Time(k.Created), Expires: encode.Time(k.Expires),
			LastUsed: encode.Time(k.LastUsed), MadeWith: encode.OptionalID(k.MadeWith), KeyLimits: showLimits(k.Limits), State: string(k.StateAt(metadata.Stamp(now.UnixMicro()))),
		}
	}
}

func showLimits(l auth.Limits) wire.KeyLimits {
	return wire.KeyLimits{Scope: l.Scope.String(), DataspaceID: encode.OptionalID(l.Dataspace), SetID: encode.OptionalID(l.Set), Networks: l.Networks.List()}
}

func (s presenter) privilege(p metadata.Privilege) wire.Privilege {
	id, user, dataspace := p.ID.String(), p.UserID.String(), p.DataspaceID.String()
	return wire.Privilege{
		ID: id, URL: s.url("privileges", id), UserID: user, UserURL: s.url("users", user),
		DataspaceID: dataspace, DataspaceURL: s.url("dataspaces", dataspace), Role: p.Role.String(), State: p.State.String(),
	}
}

func (s presenter) url(kind, id string) string { return s.base + "/" + kind + "/" + id }

// editing describes how to edit the object at an address.
type editing[T interface{ Tag() string }, F any] struct {
	decode func(input.Object, input.Shown) F
	get    func(ctx context.Context, p auth.Principal, id string) (T, error)
	show   func(T) input.Object
	update func(ctx context.Context, p auth.Principal, id string, fields F, match core.Match) (T, error)
}

// edit decodes an edit and applies it. It compares read-only fields with the current object. If the
// object changes in the meantime, edit starts again.
func (e editing[T, F]) edit(w http.ResponseWriter, r *exchange.Request) (edited T, err error) {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return edited, err
	}
	for {
		match := exchange.Preconditions(r.Request)
		in := e.decode(fields, func() (input.Object, error) {
			found, err := e.get(r.Context(), r.Caller, r.ID())
			if err != nil {
				return nil, err // the object may be incomplete
			}
			match.Read = found.Tag()
			return e.show(found), nil
		})
		edited, err = e.update(r.Context(), r.Caller, r.ID(), in, match)
		if !errors.Is(err, core.ErrOutdated) {
			return edited, err
		}
	}
}

// fieldsOf returns a function that converts an object to the decoded JSON of its wire form.
func fieldsOf[T, J any](show func(T) J) func(T) input.Object {
	return func(object T) input.Object { return decoded(encode.JSON(show(object))) }
}

func decoded(object []byte) input.Object {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	fields := input.Object{}
	if err := decoder.Decode(&fields); err != nil {
		panic(err) // cannot fail: the JSON was just encoded
	}
	return fields
}
