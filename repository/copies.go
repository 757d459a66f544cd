package repository

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
	"labshelf/repository/internal/content"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// Bounds of one move.
const (
	maxMovedVersions = 10_000 // former versions of a file that is moved to another set, in one transaction
	maxMovesBack     = 1000   // entries about a file in which a move from the set is looked for to which it goes
)

// maxStepVersions is how many former versions one step of many moves, but for those of its last
// file.
const maxStepVersions = 1000

// Destination is where a file goes that is copied or moved.
type Destination struct {
	SetID string // "": the set in which the file is
	Name  string // "": the name that it has
	Onto  string // id of a file of that set whose next version it becomes, which keeps its name and what is said about it; "": none
	Match Match  // of the file that is copied or moved
	wrong error  // of what a request says of it
}

// DestinationOf returns the place that a request names by the fields setId and name, both of which
// may be left out. What is wrong with them is said when the caller has been authorised.
func DestinationOf(f Fields, match Match) Destination {
	p := Destination{Match: match}
	p.wrong = create(&p, f, destinationFields)
	return p
}

// destinationFields are the fields of a place that requests name.
var destinationFields = setters[Destination]{
	"setId": textSetter(text{min: 1, max: maxNameBytes, bytes: true}, func(p *Destination) *string { return &p.SetID }),
	"name":  textSetter(nameText, func(p *Destination) *string { return &p.Name }),
}

// CopyResource makes a file of another one: its present version, with what is said about it. The
// bytes are shared, unless they are inline. It returns the record at the place. The caller reads
// where the file is, and writes where it goes.
func (s *Service) CopyResource(ctx context.Context, p auth.Principal, id string, to Destination) (metadata.Resource, error) {
	return s.place(ctx, p, id, to, false)
}

// MoveResource brings a file to another place: within its set it is renamed; into another one it is
// copied with all of its versions, and deleted where it was, in one commit with two stamps; the
// deleted record says what it has become. Moved back into the set in which such a record lies, it
// is that one again, with what was changed since. The record at the place is returned. A move that
// changes nothing is none.
func (s *Service) MoveResource(ctx context.Context, p auth.Principal, id string, to Destination) (metadata.Resource, error) {
	return s.place(ctx, p, id, to, true)
}

func (s *Service) place(ctx context.Context, p auth.Principal, id string, to Destination, move bool) (arrived metadata.Resource, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		t := s.newTransfer(tx, p, move)
		if err := t.prepare(ctx, id, to); err != nil {
			return err
		}
		arrived, err = t.carryOut()
		return err
	})
	s.inline.Wake()
	return arrived, err
}

// transfer is one file that is copied or moved, in one transaction.
type transfer struct {
	service *Service
	tx      *metadata.Tx
	by      auth.Principal
	move    bool

	source resolvedResource
	set    resolvedSet       // to which it goes
	onto   *resolvedResource // whose next version it becomes, or which it is again; nil: it becomes a new one
	again  bool              // onto is the deleted record that it was
	after  metadata.Resource // as it is to be stored; a new one lacks its record
	body   []byte            // to be stored with it; nil: none is
	former []rows.FormerVersion
}

// newTransfer begins a copy or a move by p in a transaction.
func (s *Service) newTransfer(tx *metadata.Tx, p auth.Principal, move bool) transfer {
	return transfer{service: s, tx: tx, by: p, move: move}
}

// between takes the file and the set to which it goes, and onto as in Place, from a caller who has
// looked them up and authorised them.
func (t *transfer) between(source resolvedResource, set resolvedSet, onto *resolvedResource) {
	t.source, t.set, t.onto = source, set, onto
}

// versions returns how many former versions come with the file.
func (t *transfer) versions() int { return len(t.former) }

// prepare finds every reason to refuse.
func (t *transfer) prepare(ctx context.Context, id string, to Destination) error {
	if err := t.admit(id, to); err != nil {
		return err
	}
	if to.wrong != nil {
		return to.wrong
	}
	return t.check(ctx, cmp.Or(to.Name, t.source.Name), to.Match)
}

// check is prepare, of what has been looked up and authorised.
func (t *transfer) check(ctx context.Context, name string, match Match) error {
	if err := t.examine(ctx, name, match); err != nil || t.renames() {
		return err
	}
	return t.service.quotas.Check(t.tx, quota.Place{Dataspace: t.set.DataspaceID, User: t.by.UserID}, t.needs())
}

// examine is check without the quotas.
func (t *transfer) examine(ctx context.Context, name string, match Match) error {
	if err := nameText.check("name", name); err != nil {
		return err
	}
	r := t.source.shown()
	if err := changeable(r.State, r.Tag(), r.Modified, match); err != nil {
		return err
	}
	if err := t.set.open("setId"); err != nil {
		return err
	}
	if t.onto != nil && t.onto.shown().State == metadata.Deleted {
		return conflict(errs.CodeDeleted, "onto", "the file at the destination is deleted; restore it first")
	}
	t.after = r
	retype(&t.after, name)
	if t.renames() {
		return nil
	}
	return t.plan(ctx)
}

// needs returns how many bytes the file adds where it goes. Where it is now, it counts until it is
// purged.
func (t *transfer) needs() int64 {
	bytes := t.after.Bytes + rows.AddedBytes(t.former)
	if t.again && t.after.Version == t.onto.Version {
		bytes -= t.after.Bytes
	}
	return bytes
}

// admit looks up what the request names, and authorises the caller.
func (t *transfer) admit(id string, to Destination) (err error) {
	if t.source, err = lookupResource(t.tx, id); err != nil {
		return err
	}
	action := auth.Read
	if t.move {
		action = auth.Write
	}
	if err := t.source.admit(t.tx, t.by, action); err != nil {
		return err
	}
	if t.set = t.source.set; to.SetID != "" && to.SetID != t.set.ID.String() {
		if t.set, err = lookupSet(t.tx, to.SetID, "setId"); err != nil {
			return err
		}
	}
	if err := authorise(t.tx, t.by, t.set.dataspace, auth.Write); err != nil || to.Onto == "" {
		return err
	}
	onto, err := lookupResource(t.tx, to.Onto)
	switch {
	case err != nil:
		return err
	case onto.ID == t.source.ID:
		return invalid("onto", "a file cannot be copied or moved onto itself")
	case onto.SetID != t.set.ID:
		return invalid("onto", "the file at the destination must be one of the set to which this one goes")
	}
	t.onto = &onto
	return rows.Described(t.tx, onto.ID, &t.onto.Descriptive)
}

// renames tells whether the file stays the one that it is.
func (t *transfer) renames() bool { return t.move && t.onto == nil && t.set.ID == t.source.SetID }

// plan completes what is to be stored of a file that becomes another one.
func (t *transfer) plan(ctx context.Context) (err error) {
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
		next := t.onto.shown()
		next.MimeType, next.Format = t.after.MimeType, cmp.Or(next.Format, t.after.Format)
		next.Digest, next.Bytes, next.Body, next.Version, next.Label = t.after.Digest, t.after.Bytes, t.after.Body, next.Version+1, ""
		t.after = next
		return nil
	}
	t.after.Record, t.after.Entry = metadata.Record{}, 0
	t.after.SetID, t.after.DataspaceID = t.set.ID, t.set.DataspaceID
	if err := t.service.conform(ctx, t.tx, arriving("", &t.after)); err != nil {
		return err
	}
	if !t.move {
		t.after.Version, t.after.Label, t.after.LinkID = 0, "", metadata.ID{}
		return nil
	}
	return t.planHistory()
}

// planHistory finds the record that a moved file is again, and the versions that come with it.
func (t *transfer) planHistory() (err error) {
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
		err = conflict(errs.CodeTooManyVersions, "", "the file has more than %d versions, which cannot be moved at once; copy it, and delete it here", maxMovedVersions)
	}
	return err
}

// recall finds the deleted record of the set that says it has become this file by a move, and still
// has its bytes. The entries about the file say from which ones it came; those that cannot be read
// say nothing.
func (t *transfer) recall() error {
	number := t.source.Entry
	for n := 0; number != 0 && n < maxMovesBack; n++ {
		e, err := t.tx.Audit.Entry(number)
		if err != nil {
			return errs.Ignore(errs.Ignore(err, metadata.ErrRecordDamaged), metadata.ErrNotFound)
		}
		if number = e.Previous; e.Action != audit.ResourceMove {
			continue
		}
		was, err := lookupResource(t.tx, cameFrom(e.Values))
		if err == nil && was.SetID == t.set.ID && was.State == metadata.Deleted && was.MovedTo == t.source.ID && was.Body != metadata.Purged {
			t.onto, t.again = &was, true
			return rows.Described(t.tx, was.ID, &t.onto.Descriptive)
		}
	}
	return nil
}

// What entries about copies and moves say in their values.
const (
	movedFrom = "from"    // id of the file that was copied or moved
	movedTo   = "movedTo" // id of what a file that was moved has become
)

// cameFrom is the id of the file that the values of an entry name as movedFrom.
func cameFrom(values string) string {
	var said map[string]string
	_ = json.Unmarshal([]byte(values), &said) // what cannot be read names none
	return said[movedFrom]
}

// carryOut writes what was planned, the arrival before the deletion.
func (t *transfer) carryOut() (arrived metadata.Resource, err error) {
	if t.renames() {
		if arrived = t.after; arrived.Name != t.source.Name {
			err = t.source.write(t.tx, rows.Change{By: t.by, Action: audit.ResourceEdit}, &arrived)
		}
		t.service.stores.SetDamaged(t.tx, &arrived)
		return arrived, err
	}
	arrived = t.after
	change := rows.Change{By: t.by, Action: audit.ResourceCopy}
	if t.move {
		change.Action = audit.ResourceMove
	}
	change.Values.Change(movedFrom, "", t.source.ID.String())
	if t.onto != nil {
		err = t.onto.write(t.tx, change, &arrived)
	} else {
		arrived.Record = newRecord(t.tx, t.by)
		err = putResource(t.tx, change, nil, &arrived)
	}
	if err = errors.Join(err, t.bring(arrived)); err != nil || !t.move {
		return arrived, err
	}
	left := t.source.shown()
	left.State = metadata.Deleted
	gone := rows.Change{By: t.by, Action: audit.ResourceDelete, Cause: arrived.Entry}
	if t.onto == nil || t.again {
		left.MovedTo = arrived.ID
		gone.Values.Change(movedTo, "", arrived.ID.String())
	}
	return arrived, t.source.write(t.tx, gone, &left)
}

// bring stores what a record does not hold itself: bytes, versions, and what clients keep with a
// file.
func (t *transfer) bring(arrived metadata.Resource) (err error) {
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
	return errors.Join(err, failed, t.service.inline.Count(t.tx))
}

// retype gives a file another name, and the format and media type that this one's extension says,
// where they were those of the former extension, or say little. A program that saves under a
// temporary name has not said what the file is.
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
