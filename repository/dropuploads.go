package repository

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"path"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository/internal/storage"
	"labshelf/repository/resumable"
)

// Files that come through request links in chunks. The link is their sender. The visitors of a link
// do not know each other, so that each upload has a secret of its own, which follows from the
// secret of the repository: nothing of it is stored.

// StartDrop begins a file that comes in chunks through a request link, as CreateUpload does, and
// returns the secret that its visitor needs to go on.
func (s *Service) StartDrop(ctx context.Context, v Visitor, start UploadStart) (t metadata.ResumableUpload, secret string, err error) {
	if err := onlyOfDrops(start); err != nil {
		return t, "", err
	}
	f := dropFileOf(start)
	var found visited
	err = s.visit(ctx, v, asked{kind: metadata.RequestLink}, func(_ *metadata.Tx, link visited) error {
		found = link
		return link.takes(f)
	})
	if err != nil {
		return t, "", err
	}
	name, err := s.dropName(found.Link, f)
	if err != nil {
		return t, "", err
	}
	set := found.SetID.String()
	start.Fields.SetID, start.Fields.Name, start.Fields.Filename = &set, &name, path.Base(name)
	start.drop = &drop{service: s, visitor: v, file: f}
	t, err = s.CreateUpload(ctx, found.asOwner(v.Origin), start)
	if t.ID != (metadata.ID{}) {
		secret = s.dropSecret(found.ID, t.ID)
	}
	return t, secret, noRoomForDrop(err)
}

// maxAnnounced bounds the Upload-Metadata of an upload through a link, in bytes: two names of the
// longest kind in base64, and the rest.
const maxAnnounced = 12 << 10

// onlyOfDrops refuses what only users may say of a file.
func onlyOfDrops(start UploadStart) error {
	f := start.Fields
	if len(start.Announced) > maxAnnounced {
		return &errs.Error{Kind: errs.Invalid, Code: errs.CodeInvalidField, Field: "Upload-Metadata",
			Message: fmt.Sprintf("Upload-Metadata must not have more than %d bytes for a link", maxAnnounced)}
	}
	for _, sent := range []struct {
		key  string
		text *string
	}{{"setId", f.SetID}, {"resourceId", start.ResourceID}, {"format", f.Format}, {"description", f.Description}, {"metadata", f.Metadata}} {
		if sent.text != nil {
			return &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: sent.key,
				Message: "a link takes no " + sent.key + "; its keys are filename, filetype, name, sha256, type, relativePath"}
		}
	}
	return nil
}

func dropFileOf(start UploadStart) DropFile {
	f := DropFile{Name: start.Fields.Filename, ContentType: start.Fields.ContentType, Length: start.Length, Field: start.Fields.Names.filename()}
	if name := valueOf(start.Fields.Name); name != "" {
		f.Name, f.Field = name, start.Fields.Names.name()
	}
	return f
}

// DropUploads returns the uploads of a request link, of which a visitor may use the one with this
// secret.
func (s *Service) DropUploads(v Visitor, secret string) *resumable.Uploads {
	return s.Uploads.For(dropUploads{uploads{s}, v, secret}, maxPause)
}

// dropSecret belongs to one upload through a link.
func (s *Service) dropSecret(link, upload metadata.ID) string {
	const length = 16
	secret := s.stores.Meta.Secret()
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte("upload through a link\x00"))
	mac.Write(link[:])
	mac.Write(upload[:])
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:length])
}

// dropUploads is what resumable.Uploads needs of a Service for a visitor of a link. The caller that
// its methods are given does not matter.
type dropUploads struct {
	uploads
	visitor Visitor
	secret  string
}

// Lookup returns the upload of the visitor, as it is on stable storage. One that is complete is
// there also when the link has been used up.
func (u dropUploads) Lookup(ctx context.Context, _ auth.Principal, id metadata.ID, grows bool) (t metadata.ResumableUpload, err error) {
	u.inline.Reading()
	err = storage.Error(u.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		found, err := u.lookupVisit(tx, u.visitor, asked{kind: metadata.RequestLink, usedUp: true})
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare([]byte(u.secret), []byte(u.dropSecret(found.ID, id))) != 1 {
			return resumable.NotFound()
		}
		t, err = uploadOf(tx, id, found.ID)
		switch {
		case err != nil || t.Done():
			return err
		case found.StateIs == metadata.LinkUsedUp:
			return linkEnded(endings[metadata.LinkUsedUp])
		case grows:
			return found.takes(sentFile(t))
		}
		return nil
	}))
	return t, err
}

// sentFile is the file of an upload through a link.
func sentFile(t metadata.ResumableUpload) DropFile {
	return DropFile{Name: t.Name, ContentType: t.ContentType, Length: t.Length, Field: "filename"}
}

// Receive is the method of other uploads. Its refusals show no numbers.
func (u dropUploads) Receive(ctx context.Context, t metadata.ResumableUpload, body io.Reader) (reserving io.Reader, done func(size int64)) {
	reserving, done = u.uploads.Receive(ctx, t, body)
	return hidingQuotas{reserving}, done
}

// hidingQuotas is a body whose refusals show no more than visitors may know.
type hidingQuotas struct{ io.Reader }

func (h hidingQuotas) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	return n, noRoomForDrop(err)
}

// Update runs fn in a write transaction with the owner of the link as it is now.
func (u dropUploads) Update(ctx context.Context, _ auth.Principal, fn func(*metadata.Tx, auth.Principal) error) error {
	return u.stores.Update(ctx, func(tx *metadata.Tx) error {
		found, err := u.lookupVisit(tx, u.visitor, asked{kind: metadata.RequestLink})
		if err != nil {
			return err
		}
		return fn(tx, found.asOwner(u.visitor.Origin))
	})
}

// Complete makes the resource of a file that has come, as that of a form is made.
func (u dropUploads) Complete(ctx context.Context, _ auth.Principal, t metadata.ResumableUpload, staged blobs.Staged, with func(*metadata.Tx, metadata.Resource) error) error {
	var found visited
	err := u.visit(ctx, u.visitor, asked{kind: metadata.RequestLink}, func(_ *metadata.Tx, link visited) error {
		found = link
		return nil
	})
	if err != nil {
		return err
	}
	form := u.NewUpload(found.asOwner(u.visitor.Origin))
	form.drop = &drop{service: u.Service, visitor: u.visitor, file: sentFile(t)}
	return noRoomForDrop(u.complete(ctx, form, t, staged, with))
}

// isAbandoned tells whether an upload comes through a link that has ended.
func (s *Service) isAbandoned(tx *metadata.Tx, t metadata.ResumableUpload) (bool, error) {
	link, err := tx.Links.Get(t.SenderID)
	if err != nil {
		return false, errs.Ignore(err, metadata.ErrNotFound)
	}
	tx.Facts = s.facts.at(tx.Access())
	var found visited
	if found.LinkWithUse, err = s.withUse(tx, link); err != nil {
		return false, err
	}
	if found.StateIs != metadata.LinkActive {
		return true, nil
	}
	err = s.resolveVisit(tx, &found)
	var ended *errs.Error
	if errors.As(err, &ended) && ended.Kind == errs.Gone {
		return true, nil
	}
	return false, err
}
