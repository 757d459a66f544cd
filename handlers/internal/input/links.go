package input

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/links"
)

func linkFields(in *links.LinkFields) members {
	return members{
		"label": text(&in.Label), "expires": expires(&in.Expires), "password": text(&in.Password), "maxUses": limit(links.MaxUses, &in.MaxUses),
		"maxBytes": limit(links.MaxBytes, &in.MaxBytes), "maxFileBytes": limit(links.MaxBytes, &in.MaxFileBytes), "types": texts(&in.Types), "hidesPeople": truth(&in.HidesPeople),
	}
}

func newLinkFields(in *links.NewLink) members {
	fields := members{
		"dataspaceId": text(&in.DataspaceID), "setId": text(&in.SetID), "folder": text(&in.Folder), "resourceIds": texts(&in.ResourceIDs),
		"role": func(field string, value any) error {
			in.Role = new(auth.Role)
			return role(in.Role)(field, value)
		},
		"version": func(_ string, value any) error {
			number, _ := value.(json.Number)
			if equal(number, json.Number("0")) {
				number = "0"
			}
			in.Version = new(number.String())
			return nil
		},
	}
	maps.Copy(fields, linkFields(&in.LinkFields))
	return fields
}

// NewLink decodes kind, the fields of this kind, and the optional label and expires. It returns an
// error only for the id of the parent, without which the use case cannot look up permissions. It
// decodes role before other fields, because the use case first checks that role and dataspaceId go
// together.
func NewLink(f Object) (in links.NewLink, err error) {
	fields := newLinkFields(&in)
	in.Kind, in.Malformed = linkKind(f)
	parent := "dataspaceId"
	if in.Kind != metadata.Invitation {
		parent = "setId"
		if _, err := required(f, parent); err != nil {
			return in, err
		}
	}
	if err := fields.some(f, parent); err != nil {
		return in, err
	}
	if in.Malformed == nil {
		in.Malformed = fields.some(f, "role")
	}
	if in.Malformed == nil {
		in.Malformed = fields.read(f, "kind")
	}
	return in, nil
}

func linkKind(f Object) (metadata.LinkKind, error) {
	word, err := required(f, "kind")
	if err != nil {
		return 0, err
	}
	kind, known := metadata.ParseLinkKind(word)
	if !known {
		err = core.Invalid("kind", "kind must be share, request or invitation")
	}
	return kind, err
}

// LinkEdit decodes the changeable fields of a link. It ignores derived fields, so that a client can
// send back a link that it read earlier, and unchanged fields that only other kinds of links have.
func LinkEdit(f Object, shown Shown) (in links.LinkFields) {
	stored, err := shown()
	if err != nil {
		in.Malformed = err
		return in
	}
	word, _ := stored["kind"].(string)
	kind, _ := metadata.ParseLinkKind(word)
	derived := []string{"state", "uses", "bytesReceived", "unfinishedUploads", "unfinishedBytes", "lastUsed", "hasPassword"}
	f = maps.Clone(f)
	maps.DeleteFunc(f, func(field string, value any) bool {
		return slices.Contains(derived, field) || value != nil && links.CheckField(kind, field) != nil && equal(stored[field], value)
	})
	in.Malformed = linkFields(&in).edit(f, func() (Object, error) { return stored, nil }, func(field string) error {
		return cmp.Or(links.CheckField(kind, field), readOnly(field))
	})
	return in
}

// expires reads an instant. "" is 0.
func expires(at **metadata.Stamp) func(string, any) error {
	return func(field string, value any) error {
		if value == "" {
			*at = new(metadata.Stamp)
			return nil
		}
		return instant(at)(field, value)
	}
}

// limit reads a number from 0, which means no limit, to most.
func limit[T uint32 | int64](most T, at **T) func(string, any) error {
	return func(field string, value any) error {
		number, _ := value.(json.Number)
		n, err := core.NumberWithin(field, number.String(), 0, uint64(most))
		*at = new(T(n))
		return err
	}
}
