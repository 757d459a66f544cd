package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/formats/audit"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/repository/inline"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/quota"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
)

// resourceFields are the fields of a resource that can be changed without a new file.
var resourceFields = setters[metadata.Resource]{
	"name":        textSetter(nameText, func(r *metadata.Resource) *string { return &r.Name }),
	"description": textSetter(proseText, func(r *metadata.Resource) *string { return &r.Description }),
	"format":      textSetter(formText, func(r *metadata.Resource) *string { return &r.Format }),
	"metadata":    metadataSetter(descriptive.Resource, func(r *metadata.Resource) *string { return &r.Descriptive }),
}

// refuseResourceField is readOnly, with a code of its own for what people try.
func refuseResourceField(field string) error {
	if field == "setId" || field == "dataspaceId" {
		return conflict(errs.CodeResourceMove, field, "a resource is moved to another set by POST /v1/resources/{id}/move")
	}
	return readOnly(field)
}

// GetResource returns the record of one resource.
func (s *Service) GetResource(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, err error) {
	err = s.read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := lookupResource(tx, id)
		if err == nil {
			err = resolved.admit(tx, p, auth.Read)
		}
		r = resolved.shown()
		if p.Anonymous { // what it has become, and through which link it came, may not be open
			r.Passage = metadata.Passage{}
		}
		s.stores.SetDamaged(tx, &r)
		return err
	})
	return r, err
}

// readableResource finds a resource that the caller may read.
func readableResource(tx *metadata.Tx, p auth.Principal, id string) (resolvedResource, error) {
	resolved, err := lookupResource(tx, id)
	if err != nil {
		return resolved, err
	}
	return resolved, authorise(tx, p, resolved.set.dataspace, auth.Read)
}

// openTries is how often OpenResource tries again when a file is not where its record says: it may
// have been replaced meanwhile.
const openTries = 3

// OpenResource returns the file of one resource, with its record. The caller closes the file; it
// stays readable to its end also when the resource is replaced, deleted or purged meanwhile. A file
// that is not there or has another length than it must is recorded as damaged; what only shows
// while it is read is for the caller to report with NoteDamage.
func (s *Service) OpenResource(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, file io.ReadSeekCloser, err error) {
	return s.open(ctx, p, id, activeFile)
}

// openAs returns a resource as it is, or was, whose file is to be opened, or why that may not be.
type openAs func(*metadata.Tx, resolvedResource) (metadata.Resource, error)

// activeFile is the file of a resource that is active.
func activeFile(tx *metadata.Tx, r resolvedResource) (metadata.Resource, error) {
	shown, err := presentFile(tx, r)
	if err == nil && shown.State == metadata.Deleted {
		err = resourceGone()
	}
	return shown, err
}

// presentFile is the file of a resource that may be deleted, but not yet purged.
func presentFile(_ *metadata.Tx, r resolvedResource) (metadata.Resource, error) {
	if r.Body == metadata.Purged {
		return metadata.Resource{}, resourceGone()
	}
	return r.shown(), nil
}

func resourceGone() error {
	return &errs.Error{Kind: errs.Gone, Code: errs.CodeResourceGone, Message: "the resource is deleted; restore it to read its file"}
}

// open is OpenResource for the resource as it is returned by as.
func (s *Service) open(ctx context.Context, p auth.Principal, id string, as openAs) (r metadata.Resource, file io.ReadSeekCloser, err error) {
	for range openTries {
		var b blobs.Blob
		if r, b, file, err = s.openable(ctx, p, id, as); err != nil || file != nil {
			return r, file, err
		}
		file, err = s.stores.Blobs.Open(ctx, b)
		if !errors.Is(err, blobs.ErrNotFound) && !errors.Is(err, blobs.ErrDamaged) {
			return r, file, s.stores.BlobError(err)
		}
		if wrong, _ := s.stores.Verify(context.WithoutCancel(ctx), b); wrong != "" {
			break // whether it could be written down or is remembered: the answer is the same
		}
	}
	return metadata.Resource{}, nil, storage.DamagedError("resource "+r.ID.String(), err)
}

// presignValid is how long a presigned address is valid.
const presignValid = time.Minute

// PresignResource returns an address from which anybody gets the file of one resource for a minute,
// as an attachment, with its record; "" where it has none: it is inline, or in folders. The errors
// are those of OpenResource, but whether the bytes are there is not asked.
func (s *Service) PresignResource(ctx context.Context, p auth.Principal, id string) (r metadata.Resource, address string, err error) {
	r, b, held, err := s.openable(ctx, p, id, activeFile)
	presigner, ok := s.files.(blobs.Presigner)
	if err != nil || held != nil || !ok {
		return r, "", err // what is held is in memory
	}
	address, err = presigner.Presign(ctx, b, blobs.Attachment{Filename: DownloadName(r), MediaType: r.MimeType, Valid: presignValid})
	return r, address, s.stores.BlobError(err)
}

// openable reads the record of a resource whose file may be read, and its blob, or the file itself
// where it is inline.
func (s *Service) openable(ctx context.Context, p auth.Principal, id string, as openAs) (r metadata.Resource, b blobs.Blob, held io.ReadSeekCloser, err error) {
	s.inline.Reading()
	err = s.read(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := readableResource(tx, p, id)
		if err != nil {
			return err
		}
		if r, err = as(tx, resolved); err != nil {
			return err
		}
		if r.Body == metadata.Inline {
			held, err = inline.Open(tx, r)
			return err
		}
		if err := s.sound(tx, r); err != nil {
			return err
		}
		b, err = s.stores.BlobOf(tx, r)
		return err
	})
	if err != nil {
		return metadata.Resource{}, b, nil, err
	}
	return r, b, held, nil
}

// sound returns an error where the blob of a resource is known to be damaged.
func (s *Service) sound(tx *metadata.Tx, r metadata.Resource) error {
	wrong, err := s.stores.DamageOf(tx, r.Digest)
	if err == nil && wrong != "" {
		err = storage.DamagedError("resource "+r.ID.String(), errors.New(wrong))
	}
	return err
}

// EditResource changes name, description, format or descriptive metadata.
func (s *Service) EditResource(ctx context.Context, p auth.Principal, id string, edit Edit[metadata.Resource]) (edited metadata.Resource, err error) {
	check := intent(func(tx *metadata.Tx, p auth.Principal) (write func() error, err error) {
		resolved, err := lookupResource(tx, id)
		if err != nil {
			return nil, err
		}
		if err := resolved.admit(tx, p, auth.Write); err != nil {
			return nil, err
		}
		r := resolved.shown()
		s.stores.SetDamaged(tx, &r)
		before := r
		changed, err := apply(&r, edit, resourceFields, refuseResourceField)
		if err == nil {
			err = s.conform(ctx, tx, ofResource(before.Descriptive, &r))
		}
		if err != nil {
			return nil, err
		}
		if err := changeable(before.State, before.Tag(), before.Modified, edit.Match); err != nil {
			return nil, err
		}
		return func() (err error) {
			if changed {
				err = resolved.write(tx, rows.Change{By: p, Action: audit.ResourceEdit}, &r)
			}
			edited = r
			return err
		}, nil
	})
	err = s.describing(ctx, p, edit.Fields, check)
	return edited, err
}

// write stores a changed resource, in the state that changed has, under a new stamp. A cascade that
// is still due is applied first.
func (r resolvedResource) write(tx *metadata.Tx, c rows.Change, changed *metadata.Resource) error {
	before := r.Resource
	if cascade := r.due(); cascade != nil {
		rows.Take(cascade, &before.Record, tx.Stamp())
		if err := putResource(tx, rows.ChangeOf(cascade, audit.Resource), &r.Resource, &before); err != nil {
			return err
		}
	}
	changed.TakenBy = 0
	if changed.Modified = tx.Stamp(); c.By.UserID != (metadata.ID{}) {
		changed.ModifiedBy = c.By.UserID
	}
	return putResource(tx, c, &before, changed)
}

// DeleteResource marks a resource deleted; its record and its bytes stay until it is purged.
func (s *Service) DeleteResource(ctx context.Context, p auth.Principal, id string, match Match) (metadata.Resource, error) {
	return s.passResource(ctx, p, id, match, metadata.Deleted)
}

// RestoreResource makes a deleted resource active again.
func (s *Service) RestoreResource(ctx context.Context, p auth.Principal, id string, match Match) (metadata.Resource, error) {
	return s.passResource(ctx, p, id, match, metadata.Active)
}

func (s *Service) passResource(ctx context.Context, p auth.Principal, id string, match Match, to metadata.State) (passed metadata.Resource, err error) {
	err = s.update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		resolved, err := lookupResource(tx, id)
		if err != nil {
			return err
		}
		if err := resolved.admit(tx, p, auth.Write); err != nil {
			return err
		}
		r := resolved.shown()
		s.stores.SetDamaged(tx, &r)
		passed = r
		if err := match.Check(r.Tag(), r.Modified); err != nil || r.State == to {
			return err
		}
		action, err := resolved.pass(&r, to)
		if err != nil {
			return err
		}
		err = resolved.write(tx, rows.Change{By: p, Action: action}, &r)
		passed = r
		return err
	})
	return passed, err
}

// pass puts what is to be stored of the resource, as it is shown, into another state, and returns
// the action by which that is done.
func (r resolvedResource) pass(shown *metadata.Resource, to metadata.State) (audit.Action, error) {
	shown.State = to
	if to == metadata.Deleted {
		return audit.ResourceDelete, nil
	}
	shown.MovedTo = metadata.ID{}
	return audit.ResourceRestore, r.restorable()
}

// restorable tells why a deleted resource cannot come back.
func (r resolvedResource) restorable() error {
	switch {
	case r.Body == metadata.Purged:
		return conflict(errs.CodePurged, "", "the file of this resource has been purged; it cannot be restored")
	case r.set.dataspace.State == metadata.Deleted:
		return parentDeleted("", "dataspace of this resource")
	case r.set.shown().State == metadata.Deleted:
		return parentDeleted("", "set of this resource")
	}
	return nil
}

// putResource stores a resource, new (before is nil) or changed under a new stamp, and keeps the
// counters of its dataspace in line. What adds bytes is refused where a quota has no room for them.
func putResource(tx *metadata.Tx, c rows.Change, before, after *metadata.Resource) error {
	change := rows.ChangeCounted(before, *after)
	if bytes := change.Bytes(); bytes > 0 {
		if err := quota.Check(tx, quota.Place{Dataspace: after.DataspaceID, User: c.By.UserID}, bytes); err != nil {
			return err
		}
	}
	return errors.Join(rows.CountUsage(tx, after.DataspaceID, after.Modified.Day(), change), rows.SaveResource(tx, c, before, after))
}

// formatOf derives a format from the extension of a name: upper case, without the dot; "" where
// there is none.
func formatOf(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot-1 > maxFormatChars {
		return ""
	}
	return strings.ToUpper(name[dot+1:])
}

// DownloadName is under which name a download is offered: the last element of Name, which says what
// the file is called now, even if it has been renamed since it was uploaded as Filename. A title
// without an extension gets that of Filename, without which systems would not know what to open it
// with. A file whose record has no format any more was renamed to a name without an extension, and
// the extension of a temporary file says nothing. Where neither makes a name it is the id.
func DownloadName(r metadata.Resource) string {
	name := r.Name[strings.LastIndexAny(r.Name, `/\`)+1:]
	switch {
	case name == "" || name == "." || name == "..":
		return cmp.Or(r.Filename, r.ID.String())
	case formatOf(name) == "" && r.Format != "" && !isTemporary(formatOf(r.Filename)):
		return name + r.Filename[strings.LastIndexByte(r.Filename, '.'):]
	}
	return name
}

// temporary are extensions under which programs write a file before they rename it.
var temporary = []string{"", "TMP", "TEMP", "PART", "PARTIAL", "CRDOWNLOAD", "DOWNLOAD", "FILEPART", "BAK", "OLD", "ORIG", "SWP", "SWX", "NEW", "LOCK"}

// isTemporary reports whether a format is the extension of a temporary file: Makefile.tmp.123456.
func isTemporary(format string) bool {
	return slices.Contains(temporary, strings.TrimRight(format, "~")) || strings.Trim(format, "0123456789") == ""
}

// NoteDamage is called when the file of a resource, as OpenResource gave it, could not be read to
// its end or had other content than its digest says. It reads the file once more, from the disk,
// and only if that says the same the blob is recorded as damaged: reading it is refused from then
// on, and the next upload of the same content brings it back. It returns when that is done, also
// when ctx ends before.
func (s *Service) NoteDamage(ctx context.Context, digest blobs.Digest, cause error) {
	ctx = context.WithoutCancel(ctx)
	var b blobs.Blob
	err := s.stores.Meta.View(ctx, func(tx *metadata.Tx) (err error) {
		b, err = tx.Blobs.Get(digest)
		return err
	})
	if err == nil {
		_, err = s.stores.Verify(ctx, b)
	}
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		s.stores.Background.Note(background.TaskDamage, fmt.Errorf("%s: %w; and it could not be looked at again: %w", digest, cause, err))
	}
}
