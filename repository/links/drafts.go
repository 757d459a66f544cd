package links

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// Bounds of a link.
const (
	maxLinkedFiles   = 500
	maxPassword      = 200 // characters
	minPassword      = 6
	maxLinkTypes     = 50
	maxLinkUses      = 1_000_000
	maxLinkBytes     = 1 << 60
	maxLinkTypeChars = 100
)

// draftLink is a link together with the requested change of its password.
type draftLink struct {
	metadata.Link
	password *string // the new password; "" removes it; nil keeps it
}

// linkFields are the changeable fields of a link.
var linkFields = core.Setters[draftLink]{
	"label":        core.TextSetter(core.LabelText, func(l *draftLink) *string { return &l.Label }),
	"expires":      setLinkExpires,
	"password":     setLinkPassword,
	"maxUses":      countSetter(maxLinkUses, func(l *draftLink, n int64) { l.MaxUses = uint32(n) }),
	"maxBytes":     countSetter(maxLinkBytes, func(l *draftLink, n int64) { l.MaxBytes = n }),
	"maxFileBytes": countSetter(maxLinkBytes, func(l *draftLink, n int64) { l.MaxFile = n }),
	"types":        setLinkTypes,
	"hidesPeople":  core.BoolSetter(func(l *draftLink) *bool { return &l.HidesPeople }),
}

// onlyOf lists the fields that only some kinds of links have, with these kinds.
var onlyOf = map[string][]metadata.LinkKind{
	"folder": {metadata.ShareLink}, "resourceIds": {metadata.ShareLink}, "version": {metadata.ShareLink}, "hidesPeople": {metadata.ShareLink},
	"maxBytes": {metadata.RequestLink}, "maxFileBytes": {metadata.RequestLink}, "types": {metadata.RequestLink},
	"setId": {metadata.ShareLink, metadata.RequestLink}, "password": {metadata.ShareLink, metadata.RequestLink}, "maxUses": {metadata.ShareLink, metadata.RequestLink},
}

// countSetter returns a setter for a number from 0, which means no limit, to most.
func countSetter[T any](most int64, set func(*T, int64)) func(*T, string, any) error {
	return func(object *T, field string, value any) error {
		number, _ := value.(json.Number)
		n, err := core.NumberWithin(field, number.String(), 0, uint64(most))
		set(object, int64(n))
		return err
	}
}

func setLinkExpires(l *draftLink, field string, value any) (err error) {
	if value == "" {
		l.Expires = 0
		return nil
	}
	l.Expires, err = containers.InstantValue(field, value)
	return err
}

func setLinkPassword(l *draftLink, field string, value any) error {
	password, err := core.StringValue(field, value)
	if err == nil && password != "" {
		err = core.TextRule{Min: minPassword, Max: maxPassword}.Check(field, password)
	}
	l.password = &password
	return err
}

func setLinkTypes(l *draftLink, field string, value any) error {
	list, err := core.StringsValue(field, value)
	if err != nil {
		return err
	}
	if len(list) > maxLinkTypes {
		return core.Invalid(field, "%s may have up to %d entries", field, maxLinkTypes)
	}
	for i, kind := range list {
		list[i] = strings.ToLower(kind)
		if len(kind) < 2 || len(kind) > maxLinkTypeChars || strings.ContainsAny(kind, " \t\r\n") || !strings.HasPrefix(kind, ".") && strings.Count(kind, "/") != 1 {
			return core.Invalid(field, "%s must be media types such as text/csv or image/*, or extensions such as .tif", field)
		}
	}
	l.Types = strings.Join(list, " ")
	return nil
}

// newLink parses and validates the fields of a new link.
func (s *Links) newLink(tx *metadata.Tx, p auth.Principal, f core.Fields) (l draftLink, err error) {
	if f["kind"] == metadata.Invitation.String() {
		return s.newInvitation(tx, p, f)
	}
	id, err := core.Required(f, "setId")
	if err != nil {
		return l, err
	}
	set, err := core.OpenSet(tx, p, id)
	if err != nil {
		return l, err
	}
	l.SetID, l.DataspaceID = set.ID, set.DataspaceID
	kind, err := core.Required(f, "kind")
	if err != nil {
		return l, err
	}
	var known bool
	if l.Kind, known = metadata.ParseLinkKind(kind); !known {
		return l, core.Invalid("kind", "kind must be share, request or invitation")
	}
	for _, field := range []string{"dataspaceId", "role"} {
		if _, sent := f[field]; sent {
			return l, core.Invalid(field, "%s is no field of new links of the kind %s", field, l.Kind)
		}
	}
	if err := l.fits(f); err != nil {
		return l, err
	}
	if err := l.shows(tx, f); err != nil {
		return l, err
	}
	if err := core.SetFields(&l, f, linkFields, "setId", "kind", "folder", "resourceIds", "version"); err != nil {
		return l, err
	}
	return l, s.bound(&l.Link, f)
}

// fits returns an error for fields that only other kinds of links have.
func (l *draftLink) fits(f core.Fields) error {
	for _, field := range slices.Sorted(maps.Keys(f)) {
		if kinds, some := onlyOf[field]; some && !slices.Contains(kinds, l.Kind) {
			return core.Invalid(field, "%s is no field of links of the kind %s", field, l.Kind)
		}
	}
	return nil
}

// shows parses the fields that say what a new share shows.
func (l *draftLink) shows(tx *metadata.Tx, f core.Fields) (err error) {
	if folder, sent := f["folder"]; sent {
		if l.Folder, err = core.StringValue("folder", folder); err == nil {
			err = core.TextRule{Max: core.MaxNameBytes - 1, Bytes: true}.Check("folder", l.Folder)
		}
		if err != nil {
			return err
		}
		if l.Folder = strings.Trim(l.Folder, "/"); l.Folder != "" {
			l.Folder += "/"
		}
	}
	ids := []string{}
	if list, sent := f["resourceIds"]; sent {
		if ids, err = core.StringsValue("resourceIds", list); err != nil {
			return err
		}
		if len(ids) > maxLinkedFiles || len(ids) > 0 && l.Folder != "" {
			return core.Invalid("resourceIds", "resourceIds names up to %d files of the set, and goes without folder", maxLinkedFiles)
		}
	}
	for _, id := range ids {
		r, err := core.LookupResource(tx, id)
		if err == nil && r.SetID != l.SetID || errors.Is(err, metadata.ErrNotFound) {
			err = core.Invalid("resourceIds", "there is no file %s in this set", core.Shorten(id))
		}
		if err != nil {
			return core.Blame(err, "resourceIds")
		}
		l.Files += string(r.ID[:])
	}
	if number, sent := f["version"]; sent && !core.Equal(number, json.Number("0")) {
		if len(ids) != 1 {
			return core.Invalid("version", "version goes with resourceIds of one file")
		}
		return l.showsVersion(tx, ids[0], number)
	}
	return nil
}

// showsVersion limits a share of one file to one of its versions.
func (l *draftLink) showsVersion(tx *metadata.Tx, id string, number any) error {
	r, err := core.LookupResource(tx, id)
	if err != nil {
		return err
	}
	n, _ := number.(json.Number)
	if _, err := files.KeptVersion(tx, r, n.String()); err != nil {
		return core.Blame(err, "version")
	}
	v, err := strconv.ParseUint(n.String(), 10, 32)
	l.Version = uint32(v)
	return err
}

// LinkAge returns the maximum age of a link, or 0 without a limit.
func (s *Links) LinkAge() time.Duration { return s.config.LinkAge }

// bound checks the end of a link: it must be in the future, and not later than the kind of link and
// the configuration allow. A link without an end gets the default for its kind. For kinds other
// than invitations, the default is the latest allowed end. The age of an invitation counts from its
// creation: a change does not extend it.
func (s *Links) bound(l *metadata.Link, f core.Fields) error {
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
	switch _, sent := f["expires"]; {
	case l.Expires != 0 && l.Expires <= now && sent:
		return core.Invalid("expires", "expires must be in the future")
	case most == 0:
		return nil
	case l.Expires == 0:
		l.Expires = min(now+metadata.Stamp(usual.Microseconds()), latest)
	case sent && l.Expires > latest:
		return core.Invalid("expires", "expires: such links end after %s at most", most)
	}
	return nil
}
