package links

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Bounds of a link.
const (
	MaxUses          = 1_000_000
	MaxBytes         = 1 << 60 // of all files of a request, and of each
	maxLinkedFiles   = 500
	maxPassword      = 200 // characters
	minPassword      = 6
	maxLinkTypes     = 50
	maxLinkTypeChars = 100
)

// LinkFields are the changeable fields of a link. A nil field keeps its value. A limit of 0 is no
// limit.
type LinkFields struct {
	Label                  *string
	Expires                *metadata.Stamp // 0: the default for the kind of link
	Password               *string         // "" removes it
	MaxUses                *uint32
	MaxBytes, MaxFileBytes *int64
	Types                  []string // media types and extensions; empty: all files
	HidesPeople            *bool
	core.Input
}

// NewLink describes a link to create. Shares and requests require SetID. Invitations require
// DataspaceID and Role, or neither.
type NewLink struct {
	Kind               metadata.LinkKind
	SetID, DataspaceID *string
	Role               *auth.Role
	Folder             *string  // share: only this folder of the set
	ResourceIDs        []string // share: only these files of the set
	Version            *string  // share of one file: number of the shown version; "0" for the newest
	LinkFields
}

// ofKinds lists the fields that only some kinds of links have, by name.
var ofKinds = []struct {
	field string
	kinds []metadata.LinkKind
	sent  func(NewLink) bool
}{
	{"folder", []metadata.LinkKind{metadata.ShareLink}, func(in NewLink) bool { return in.Folder != nil }},
	{"hidesPeople", []metadata.LinkKind{metadata.ShareLink}, func(in NewLink) bool { return in.HidesPeople != nil }},
	{"maxBytes", []metadata.LinkKind{metadata.RequestLink}, func(in NewLink) bool { return in.MaxBytes != nil }},
	{"maxFileBytes", []metadata.LinkKind{metadata.RequestLink}, func(in NewLink) bool { return in.MaxFileBytes != nil }},
	{"maxUses", []metadata.LinkKind{metadata.ShareLink, metadata.RequestLink}, func(in NewLink) bool { return in.MaxUses != nil }},
	{"password", []metadata.LinkKind{metadata.ShareLink, metadata.RequestLink}, func(in NewLink) bool { return in.Password != nil }},
	{"resourceIds", []metadata.LinkKind{metadata.ShareLink}, func(in NewLink) bool { return in.ResourceIDs != nil }},
	{"setId", []metadata.LinkKind{metadata.ShareLink, metadata.RequestLink}, func(in NewLink) bool { return in.SetID != nil }},
	{"types", []metadata.LinkKind{metadata.RequestLink}, func(in NewLink) bool { return in.Types != nil }},
	{"version", []metadata.LinkKind{metadata.ShareLink}, func(in NewLink) bool { return in.Version != nil }},
}

// CheckField returns an error if only other kinds of links have this field.
func CheckField(kind metadata.LinkKind, field string) error {
	for _, of := range ofKinds {
		if of.field == field && !slices.Contains(of.kinds, kind) {
			return core.Invalid(field, "%s is not a field of links of the kind %s", field, kind)
		}
	}
	return nil
}

// fits returns an error for fields that only other kinds of links have.
func (in NewLink) fits(kind metadata.LinkKind) error {
	for _, of := range ofKinds {
		if of.sent(in) {
			if err := CheckField(kind, of.field); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply validates the fields and sets them in a link, except the password.
func (f LinkFields) apply(l *metadata.Link) error {
	core.Set(&l.Expires, f.Expires)
	core.Set(&l.HidesPeople, f.HidesPeople)
	return cmp.Or(
		core.LabelText.Set(&l.Label, "label", f.Label),
		setLimit(&l.MaxBytes, "maxBytes", f.MaxBytes, MaxBytes),
		setLimit(&l.MaxFile, "maxFileBytes", f.MaxFileBytes, MaxBytes),
		setLimit(&l.MaxUses, "maxUses", f.MaxUses, MaxUses),
		f.checkPassword(),
		f.applyTypes(l),
		f.Malformed)
}

// setLimit sets a limit from 0 to most. A nil value leaves it unchanged.
func setLimit[T uint32 | int64](at *T, field string, value *T, most T) error {
	if value != nil && (*value < 0 || *value > most) {
		return core.NotWithin(field, 0, uint64(most))
	}
	core.Set(at, value)
	return nil
}

func (f LinkFields) checkPassword() error {
	if core.ValueOf(f.Password) == "" {
		return nil
	}
	return core.TextRule{Min: minPassword, Max: maxPassword}.Check("password", *f.Password)
}

func (f LinkFields) applyTypes(l *metadata.Link) error {
	if f.Types == nil {
		return nil
	}
	if len(f.Types) > maxLinkTypes {
		return core.Invalid("types", "types may have up to %d entries", maxLinkTypes)
	}
	for _, kind := range f.Types {
		if len(kind) < 2 || len(kind) > maxLinkTypeChars || strings.ContainsAny(kind, " \t\r\n") || !strings.HasPrefix(kind, ".") && strings.Count(kind, "/") != 1 {
			return core.Invalid("types", "types must be media types such as text/csv or image/*, or extensions such as .tif")
		}
	}
	l.Types = strings.ToLower(strings.Join(f.Types, " "))
	return nil
}

// newLink validates a new link.
func (s *Links) newLink(tx *metadata.Tx, p auth.Principal, in NewLink) (l metadata.Link, err error) {
	if in.Kind == metadata.Invitation {
		return s.newInvitation(tx, p, in)
	}
	set, err := core.OpenSet(tx, p, core.ValueOf(in.SetID), auth.Share)
	if err != nil {
		return l, err
	}
	if in.Kind == 0 {
		return l, cmp.Or[error](in.Malformed, core.Missing("kind", "kind is required"))
	}
	l.Kind, l.SetID, l.DataspaceID = in.Kind, set.ID, set.DataspaceID
	switch {
	case in.DataspaceID != nil:
		return l, core.Invalid("dataspaceId", "dataspaceId is not a field of new links of the kind %s", l.Kind)
	case in.Role != nil:
		return l, core.Invalid("role", "role is not a field of new links of the kind %s", l.Kind)
	}
	if err := in.fits(l.Kind); err != nil {
		return l, err
	}
	if err := in.show(tx, &l); err != nil {
		return l, err
	}
	if err := in.apply(&l); err != nil {
		return l, err
	}
	return l, s.bound(&l, in.Expires != nil)
}

// show sets what a new share shows.
func (in NewLink) show(tx *metadata.Tx, l *metadata.Link) error {
	if err := (core.TextRule{Max: core.MaxNameBytes - 1, Bytes: true}).Set(&l.Folder, "folder", in.Folder); err != nil {
		return err
	}
	if l.Folder = strings.Trim(l.Folder, "/"); l.Folder != "" {
		l.Folder += "/"
	}
	if len(in.ResourceIDs) > maxLinkedFiles || len(in.ResourceIDs) > 0 && l.Folder != "" {
		return core.Invalid("resourceIds", "resourceIds may name up to %d files of the set, and cannot be combined with folder", maxLinkedFiles)
	}
	for _, id := range in.ResourceIDs {
		r, err := core.LookupResource(tx, id)
		if err == nil && r.SetID != l.SetID || errors.Is(err, metadata.ErrNotFound) {
			err = core.Invalid("resourceIds", "there is no file %s in this set", core.Shorten(id))
		}
		if err != nil {
			return core.Blame(err, "resourceIds")
		}
		l.Files += string(r.ID[:])
	}
	if in.Version == nil || *in.Version == "0" {
		return nil
	}
	if len(in.ResourceIDs) != 1 {
		return core.Invalid("version", "version requires resourceIds with one file")
	}
	r, err := core.LookupResource(tx, in.ResourceIDs[0])
	if err != nil {
		return err
	}
	v, err := files.KeptVersion(tx, r, *in.Version)
	l.Version = v.Number + 1 // clients count from 1
	return core.Blame(err, "version")
}

// LinkAge returns the maximum age of a link, or 0 without a limit.
func (s *Links) LinkAge() time.Duration { return s.config.LinkAge }

// bound checks the end of a link. An end that the caller has sent must be in the future, and not
// later than the kind of link and the configuration allow. A link without an end gets the default
// for its kind. For kinds other than invitations, the default is the latest allowed end. The age of
// an invitation counts from its creation: a change does not extend it.
func (s *Links) bound(l *metadata.Link, sent bool) error {
	most, usual := s.config.LinkAge, s.config.LinkAge
	if l.Kind == metadata.Invitation {
		if most = maxInvitationAge; s.config.LinkAge > 0 {
			most = min(most, s.config.LinkAge)
		}
		usual = min(invitationAge, most)
	}
	now := s.core.Now()
	from := now
	if l.Kind == metadata.Invitation && l.Created != 0 {
		from = l.Created
	}
	latest := from + metadata.Stamp(most.Microseconds())
	switch {
	case l.Expires != 0 && l.Expires <= now && sent:
		return core.Invalid("expires", "expires must be in the future")
	case most == 0:
		return nil
	case l.Expires == 0:
		l.Expires = min(now+metadata.Stamp(usual.Microseconds()), latest)
	case sent && l.Expires > latest:
		return core.Invalid("expires", "expires: links of this kind are valid for at most %s", most)
	}
	return nil
}
