package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/internal/content"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// Bounds of one move.
const (
	maxMovedVersions = 10_000 // former versions of a file moved to another set
	maxMovesBack     = 1000   // maximum number of entries about a file that are searched for an earlier move
)

// MaxStepVersions is the maximum number of former versions that one step of many moves adds, not
// counting its last file.
const MaxStepVersions = 1000

// Destination is where a file is copied or moved.
type Destination struct {
	SetID string     // "" for the set of the file
	Name  string     // "" for the name of the file
	Onto  string     // id of a file there that gets a new version; may be ""
	Match core.Match // preconditions on the file that is copied or moved
	core.Input
}

// Copy creates a file from the present version of another file, including its description.
// The two share the bytes, unless these are inline. It returns the new record. The caller needs
// read permission at the source and write permission at the destination.
func (s *Files) Copy(ctx context.Context, p auth.Principal, id string, to Destination) (metadata.Resource, error) {
	return s.place(ctx, p, id, to, false)
}

// Move moves a file. Within its set, the file is renamed. To another set, it is copied with
// all its versions and deleted at the source, in one commit with two stamps; the deleted record
// names the new one. If the file returns to a set with such a deleted record, that record becomes
// active again, with the later changes. Move returns the record at the destination. A move
// that changes nothing makes no entry.
func (s *Files) Move(ctx context.Context, p auth.Principal, id string, to Destination) (metadata.Resource, error) {
	return s.place(ctx, p, id, to, true)
}

func (s *Files) place(ctx context.Context, p auth.Principal, id string, to Destination, move bool) (arrived metadata.Resource, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		t := s.NewRelocation(tx, p, move)
		if err := t.Prepare(ctx, id, to); err != nil {
			return err
		}
		arrived, err = t.CarryOut()
		return err
	})
	s.core.Inline.Wake()
	return arrived, err
}

// Relocation is a copy or move of one file in one transaction.
type Relocation struct {
	service *Files
	tx      *metadata.Tx
	by      auth.Principal
	move    bool

	source core.ResolvedResource
	set    core.ResolvedSet       // destination
	onto   *core.ResolvedResource // gets a new version or is restored; nil to create a file
	again  bool                   // onto is the deleted record that the file once was
	after  metadata.Resource      // the record to store; without Record if it is new
	body   []byte                 // inline body to store with it; nil without one
	former []rows.FormerVersion
}

// NewRelocation begins a copy or a move on behalf of p, in a transaction.
func (s *Files) NewRelocation(tx *metadata.Tx, p auth.Principal, move bool) Relocation {
	return Relocation{service: s, tx: tx, by: p, move: move}
}

// Between sets the file, the destination set, and the file to replace, which may be nil. The caller
// must have looked them up and checked the permissions.
func (t *Relocation) Between(source core.ResolvedResource, set core.ResolvedSet, onto *core.ResolvedResource) {
	t.source, t.set, t.onto = source, set, onto
}

// Versions returns the number of former versions that move with the file.
func (t *Relocation) Versions() int { return len(t.former) }

// Prepare looks up the file and the destination, and runs all checks.
func (t *Relocation) Prepare(ctx context.Context, id string, to Destination) error {
	if err := t.admit(id, to); err != nil {
		return err
	}
	if to.Malformed != nil {
		return to.Malformed
	}
	return t.Check(ctx, cmp.Or(to.Name, t.source.Name), to.Match)
}

// Check runs the checks of Prepare after Between.
func (t *Relocation) Check(ctx context.Context, name string, match core.Match) error {
	if err := t.Examine(ctx, name, match); err != nil || t.Renames() {
		return err
	}
	return t.service.core.Quotas.Check(t.tx, quota.Place{Dataspace: t.set.DataspaceID, User: t.by.UserID}, t.Needs())
}

// Examine is like Check without the quotas.
func (t *Relocation) Examine(ctx context.Context, name string, match core.Match) error {
	if err := core.NameText.Check("name", name); err != nil {
		return err
	}
	r := t.source.Shown()
	if err := core.Changeable(r.State, r.Tag(), r.Modified, match); err != nil {
		return err
	}
	if err := t.set.Open("setId"); err != nil {
		return err
	}
	if t.onto != nil && t.onto.Shown().State == metadata.Deleted {
		return core.Conflict(errs.CodeDeleted, "onto", "the file at the destination is deleted; restore it first")
	}
	t.after = r
	retype(&t.after, name)
	if t.Renames() {
		return nil
	}
	return t.plan(ctx)
}

// Needs returns the number of bytes that the file adds at the destination. At the source, it still
// counts until it is purged.
func (t *Relocation) Needs() int64 {
	bytes := t.after.Bytes + rows.AddedBytes(t.former)
	if t.again && t.after.Version == t.onto.Version {
		bytes -= t.after.Bytes
	}
	return bytes
}

// admit looks up the file and the destination, and authorises the caller.
func (t *Relocation) admit(id string, to Destination) (err error) {
	if t.source, err = core.LookupResource(t.tx, id); err != nil {
		return err
	}
	action := auth.Read
	if t.move {
		action = auth.Write
	}
	if err := t.source.Admit(t.tx, t.by, action); err != nil {
		return err
	}
	if t.set = t.source.Set; to.SetID != "" && to.SetID != t.set.ID.String() {
		if t.set, err = core.LookupSet(t.tx, to.SetID, "setId"); err != nil {
			return err
		}
	}
	if err := t.set.Authorise(t.tx, t.by, auth.Write); err != nil || to.Onto == "" {
		return err
	}
	onto, err := core.LookupResource(t.tx, to.Onto)
	switch {
	case err != nil:
		return err
	case onto.ID == t.source.ID:
		return core.Invalid("onto", "a file cannot be copied or moved onto itself")
	case onto.SetID != t.set.ID:
		return core.Invalid("onto", "the file at the destination must be in the destination set")
	}
	t.onto = &onto
	return rows.Described(t.tx, onto.ID, &t.onto.Descriptive)
}

// Renames reports whether the relocation only renames the file.
func (t *Relocation) Renames() bool { return t.move && t.onto == nil && t.set.ID == t.source.SetID }

// plan completes the record of a file that becomes another resource.
func (t *Relocation) plan(ctx context.Context) (err error) {
	if t.source.Body == metadata.Inline {
		if t.body, err = rows.VerifyInline(t.tx, t.source.Resource); errors.Is(err, metadata.ErrRecordDamaged) {
			err = storage.DamagedError("resource "+t.source.ID.String(), err)
		}
	} else {
		err = t.service.sound(t.tx, t.source.Resource)
	}
	if err != nil {
		return err
	}
	t.after.MovedTo = metadata.ID{}
	if t.onto != nil {
		next := t.onto.Shown()
		next.MimeType, next.Format = t.after.MimeType, cmp.Or(next.Format, t.after.Format)
		next.Digest, next.Bytes, next.Body, next.Version, next.Label = t.after.Digest, t.after.Bytes, t.after.Body, next.Version+1, ""
		t.after = next
		return nil
	}
	t.after.Record, t.after.Entry = metadata.Record{}, 0
	t.after.SetID, t.after.DataspaceID = t.set.ID, t.set.DataspaceID
	if err := t.service.descriptions.Conform(ctx, t.tx, describe.Arriving("", &t.after)); err != nil {
		return err
	}
	if !t.move {
		t.after.Version, t.after.Label, t.after.LinkID = 0, "", metadata.ID{}
		return nil
	}
	return t.planHistory()
}

// planHistory finds the deleted record that a moved file restores, and the versions that move with
// it.
func (t *Relocation) planHistory() (err error) {
	if err := t.recall(); err != nil {
		return err
	}
	if t.again {
		t.after.Record, t.after.Entry = t.onto.Record, t.onto.Entry
		t.after.State = metadata.Active
		if t.after.Version == t.onto.Version {
			t.after.Body, t.body = t.onto.Body, nil
		}
	}
	t.former, err = rows.FormerVersions(t.tx, t.source.Resource, t.after, t.by.UserID, maxMovedVersions+1)
	switch {
	case errors.Is(err, metadata.ErrRecordDamaged):
		err = storage.DamagedError("a version of resource "+t.source.ID.String(), err)
	case len(t.former) > maxMovedVersions:
		err = core.Conflict(errs.CodeTooManyVersions, "", "the file has more than %d versions, too many for a move; copy it, and delete it here", maxMovedVersions)
	}
	return err
}

// recall finds a deleted record in the destination set that names this file as the result of a move
// and still has its bytes. The entries about the file name its former records; unreadable entries
// end the search.
func (t *Relocation) recall() error {
	number := t.source.Entry
	for n := 0; number != 0 && n < maxMovesBack; n++ {
		e, err := t.tx.Audit.Entry(number)
		if err != nil {
			return errs.Ignore(errs.Ignore(err, metadata.ErrRecordDamaged), metadata.ErrNotFound)
		}
		if number = e.Previous; e.Action != audit.ResourceMove {
			continue
		}
		was, err := core.LookupResource(t.tx, cameFrom(e.Values))
		if err == nil && was.SetID == t.set.ID && was.State == metadata.Deleted && was.MovedTo == t.source.ID && was.Body != metadata.Purged {
			t.onto, t.again = &was, true
			return rows.Described(t.tx, was.ID, &t.onto.Descriptive)
		}
	}
	return nil
}

// Values of entries about copies and moves.
const (
	movedFrom = "from"    // id of the copied or moved file
	movedTo   = "movedTo" // id of the file that replaces a moved file
)

// cameFrom returns the id in movedFrom in the values of an entry, or "".
func cameFrom(values string) string {
	var said map[string]string
	_ = json.Unmarshal([]byte(values), &said) // unreadable values have no movedFrom
	return said[movedFrom]
}

// CarryOut writes the planned changes. It writes the new file before it deletes the old one.
func (t *Relocation) CarryOut() (arrived metadata.Resource, err error) {
	if t.Renames() {
		if arrived = t.after; arrived.Name != t.source.Name {
			err = t.source.Write(t.tx, rows.Change{By: t.by, Action: audit.ResourceEdit}, &arrived)
		}
		t.service.core.Stores.SetDamaged(t.tx, &arrived)
		return arrived, err
	}
	arrived = t.after
	change := rows.Change{By: t.by, Action: audit.ResourceCopy}
	if t.move {
		change.Action = audit.ResourceMove
	}
	change.Values.Change(movedFrom, "", t.source.ID.String())
	if t.onto != nil {
		err = t.onto.Write(t.tx, change, &arrived)
	} else {
		arrived.Record = core.NewRecord(t.tx, t.by)
		err = core.PutResource(t.tx, change, nil, &arrived)
	}
	if err = errors.Join(err, t.bring(arrived)); err != nil || !t.move {
		return arrived, err
	}
	left := t.source.Shown()
	left.State = metadata.Deleted
	gone := rows.Change{By: t.by, Action: audit.ResourceDelete, Cause: arrived.Entry}
	if t.onto == nil || t.again {
		left.MovedTo = arrived.ID
		gone.Values.Change(movedTo, "", arrived.ID.String())
	}
	return arrived, t.source.Write(t.tx, gone, &left)
}

// bring stores what is not part of the record: the inline body, the versions, and the properties
// that clients keep with the file.
func (t *Relocation) bring(arrived metadata.Resource) (err error) {
	added, err := rows.SaveFormerVersions(t.tx, arrived.ID, t.former, arrived.Modified)
	if err == nil {
		err = rows.CountUsage(t.tx, arrived.DataspaceID, arrived.Modified.Day(), added)
	}
	if t.body != nil {
		err = errors.Join(err, t.tx.InlineBodies.Put(arrived.VersionKey(), t.body))
	}
	kept, failed := t.tx.FileProperties.Get(t.source.ID)
	switch {
	case failed == nil:
		kept.ResourceID = arrived.ID
		if kept.Attributes.Version == t.source.Version {
			kept.Attributes.Version = arrived.Version
		} else {
			kept.Attributes.Timed, kept.Attributes.Modified, kept.Attributes.Version = false, 0, 0
		}
		failed = t.tx.FileProperties.Put(kept)
	case errors.Is(failed, metadata.ErrNotFound) && t.again:
		failed = t.tx.FileProperties.Remove(arrived.ID)
	default:
		failed = errs.Ignore(failed, metadata.ErrNotFound)
	}
	return errors.Join(err, failed, t.service.core.Inline.Count(t.tx))
}

// retype renames a file. It also sets the format and the media type from the new extension, if they
// match the former extension or are vague. A temporary name thus does not determine the type
// permanently.
func retype(r *metadata.Resource, name string) {
	was, is := formatOf(r.Name), formatOf(name)
	r.Name = name
	if was == is {
		return
	}
	if r.Format == was {
		r.Format = is
	}
	media, parameters, _ := strings.Cut(r.MimeType, ";")
	known, ok := content.OfExtension(is)
	if former, _ := content.OfExtension(was); !ok || media != former && !content.IsVague(media) {
		return
	}
	if r.MimeType = known; parameters != "" && strings.HasPrefix(known, "text/") {
		r.MimeType += ";" + parameters
	}
}
