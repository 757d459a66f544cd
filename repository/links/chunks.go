package links

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
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/internal/storage"
	"labshelf/repository/resumable"
)

// Uploads in chunks through request links. The sender is the link. The visitors of a link must not
// see each other's uploads, so each upload has its own secret. The secret is derived from the
// secret of the repository and not stored.

// StartFile begins an upload in chunks through a request link, like Uploads.Create. It also returns
// the secret that the visitor needs to continue.
func (s *Visitors) StartFile(ctx context.Context, v Visitor, start files.UploadStart) (t metadata.ResumableUpload, secret string, err error) {
	if err := onlyOfLinks(start); err != nil {
		return t, "", err
	}
	f := announcedFile(start)
	var found foundLink
	err = s.visit(ctx, v, asked{kind: metadata.RequestLink}, func(_ *metadata.Tx, link foundLink) error {
		found = link
		return link.takes(f)
	})
	if err != nil {
		return t, "", err
	}
	name, err := s.sentName(found.Link, f)
	if err != nil {
		return t, "", err
	}
	set := found.SetID.String()
	start.Fields.SetID, start.Fields.Name, start.Fields.Filename = &set, &name, path.Base(name)
	start.Sender = &fileRequest{service: s, visitor: v, file: f}
	t, err = s.uploads.Create(ctx, found.asOwner(v.Origin), start)
	if t.ID != (metadata.ID{}) {
		secret = s.uploadSecret(found.ID, t.ID)
	}
	return t, secret, hideQuota(err)
}

// maxAnnounced is the maximum size in bytes of Upload-Metadata through a link: two names of maximum
// length in base64, and the rest.
const maxAnnounced = 12 << 10

// onlyOfLinks returns an error for fields that only users may send.
func onlyOfLinks(start files.UploadStart) error {
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
				Message: "a link does not accept " + sent.key + "; its keys are filename, filetype, name, sha256, type, relativePath"}
		}
	}
	return nil
}

func announcedFile(start files.UploadStart) SentFile {
	f := SentFile{Name: start.Fields.Filename, ContentType: start.Fields.ContentType, Length: start.Length, Field: start.Fields.Names.ForFilename()}
	if name := core.ValueOf(start.Fields.Name); name != "" {
		f.Name, f.Field = name, start.Fields.Names.ForName()
	}
	return f
}

// Uploads returns the uploads through a request link, as seen by a visitor with the secret of
// one upload.
func (s *Visitors) Uploads(v Visitor, secret string) *resumable.Uploads {
	return s.uploads.Chunks.For(linkUploads{s.uploads.ChunkRules(), s, v, secret}, maxPause)
}

// uploadSecret returns the secret of one upload through a link.
func (s *Visitors) uploadSecret(link, upload metadata.ID) string {
	const length = 16
	secret := s.core.Stores.Meta.Secret()
	mac := hmac.New(sha256.New, secret[:])
	mac.Write([]byte("upload through a link\x00"))
	mac.Write(link[:])
	mac.Write(upload[:])
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:length])
}

// linkUploads implements resumable.Repository for a visitor of a link. Its methods ignore the
// caller.
type linkUploads struct {
	files.ChunkRules
	links   *Visitors
	visitor Visitor
	secret  string
}

// Lookup returns the upload of the visitor, as it is on stable storage. A complete upload is
// visible even if the link has been used up.
func (u linkUploads) Lookup(ctx context.Context, _ auth.Principal, id metadata.ID, grows bool) (t metadata.ResumableUpload, err error) {
	u.links.core.Inline.Reading()
	err = storage.Error(u.links.core.Stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		found, err := u.links.findLink(tx, u.visitor, asked{kind: metadata.RequestLink, usedUp: true})
		if err != nil {
			return err
		}
		if subtle.ConstantTimeCompare([]byte(u.secret), []byte(u.links.uploadSecret(found.ID, id))) != 1 {
			return resumable.NotFound()
		}
		t, err = files.UploadOf(tx, id, found.ID)
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

// sentFile returns the file of an upload through a link.
func sentFile(t metadata.ResumableUpload) SentFile {
	return SentFile{Name: t.Name, ContentType: t.ContentType, Length: t.Length, Field: "filename"}
}

// Receive is like ChunkRules.Receive, but its errors do not show the numbers of quotas.
func (u linkUploads) Receive(ctx context.Context, t metadata.ResumableUpload, body io.Reader) (reserving io.Reader, done func(size int64)) {
	reserving, done = u.ChunkRules.Receive(ctx, t, body)
	return hidingQuotas{reserving}, done
}

// hidingQuotas is a body whose errors show no more than visitors may know.
type hidingQuotas struct{ io.Reader }

func (h hidingQuotas) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	return n, hideQuota(err)
}

// Update runs fn in a write transaction, with the present state of the owner of the link.
func (u linkUploads) Update(ctx context.Context, _ auth.Principal, fn func(*metadata.Tx, auth.Principal) error) error {
	return u.links.core.Stores.Update(ctx, func(tx *metadata.Tx) error {
		found, err := u.links.findLink(tx, u.visitor, asked{kind: metadata.RequestLink})
		if err != nil {
			return err
		}
		return fn(tx, found.asOwner(u.visitor.Origin))
	})
}

// Complete creates the resource of a received file, like an upload in one request.
func (u linkUploads) Complete(ctx context.Context, _ auth.Principal, t metadata.ResumableUpload, staged blobs.Staged, with func(*metadata.Tx, metadata.Resource) error) error {
	var found foundLink
	err := u.links.visit(ctx, u.visitor, asked{kind: metadata.RequestLink}, func(_ *metadata.Tx, link foundLink) error {
		found = link
		return nil
	})
	if err != nil {
		return err
	}
	form := u.links.uploads.NewUploadFrom(&fileRequest{service: u.links, visitor: u.visitor, file: sentFile(t)}, found.asOwner(u.visitor.Origin))
	return hideQuota(u.CompleteAs(ctx, form, t, staged, with))
}

// Ended reports whether an upload came through a link that has ended.
func (s *Visitors) Ended(tx *metadata.Tx, t metadata.ResumableUpload) (bool, error) {
	link, err := tx.Links.Get(t.SenderID)
	if err != nil {
		return false, errs.Ignore(err, metadata.ErrNotFound)
	}
	s.core.UseFacts(tx)
	var found foundLink
	if found.LinkWithUse, err = s.users.WithUse(tx, link); err != nil {
		return false, err
	}
	if found.StateIs != metadata.LinkActive {
		return true, nil
	}
	err = s.resolveLink(tx, &found)
	var ended *errs.Error
	if errors.As(err, &ended) && ended.Kind == errs.Gone {
		return true, nil
	}
	return false, err
}
