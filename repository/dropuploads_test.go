package repository_test

import (
	"bytes"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/files"
	"labshelf/repository/links"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// TestReservationsOfLinks: an upload through a link reserves bytes for the owner of the link, also
// after a restart. The complete file counts for the owner at that time.
func TestReservationsOfLinks(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{})
	ctx := t.Context()
	link, token, err := w.Service.Links.Create(ctx, w.editor, links.NewLink{Kind: metadata.RequestLink, SetID: new(w.Sets[0].ID.String())})
	w.OK(err)
	v := links.Visitor{Token: token}
	begin := func(length int64) (string, string, error) {
		start := files.UploadStart{Length: length, Fields: files.UploadFields{Filename: "file", Names: files.ResumableUploadNames()}}
		upload, secret, err := w.Service.Visitors.StartFile(ctx, v, start)
		return upload.ID.String(), secret, err
	}
	w.limitSpace(1000)
	id, secret, err := begin(1000)
	w.fits("an upload of 1000", err)
	w.holds("an announcement", 0)
	send := func(offset int64) error {
		chunk := resumable.Chunk{Offset: offset, Length: 500, Body: bytes.NewReader(make([]byte, 500)), Stop: func() {}}
		_, err := w.Service.Visitors.Uploads(v, secret).Append(ctx, auth.Principal{}, id, chunk)
		return err
	}
	w.fits("a half of it", send(0))
	w.holds("a half", 500)
	_, _, err = begin(501)
	w.full("an upload of 501 bytes at the same time", err)
	again := repositorytest.NewStill(w.Meta, w.Blobs, repository.Config{})
	if got, of := again.Reserved(w.Space.ID), again.Reserved(w.editor.UserID); got != 500 || of != 500 {
		t.Errorf("a started service has reserved %d and %d bytes", got, of)
	}
	_, err = w.Service.Links.Take(ctx, w.Admin, link.ID.String())
	w.OK(err)
	w.fits("the rest of it", send(500))
	w.unreserved()
	owner, err := w.Service.Users.Usage(ctx, w.Admin, "me")
	w.OK(err)
	former, err := w.Service.Users.Usage(ctx, w.editor, "me")
	if err != nil || w.used() != 1000 || owner.Used != 1000 || former.Used != 0 {
		t.Errorf("%d bytes are used; %d by the owner, %d by the former owner, %v", w.used(), owner.Used, former.Used, err)
	}
}

// TestUnfinishedAfterStart: a service knows the unfinished uploads of a link after a restart.
func TestUnfinishedAfterStart(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{})
	ctx := t.Context()
	fields := links.NewLink{Kind: metadata.RequestLink, SetID: new(w.Sets[0].ID.String()), LinkFields: links.LinkFields{MaxUses: new(uint32(1))}}
	_, token, err := w.Service.Links.Create(ctx, w.editor, fields)
	w.OK(err)
	start := files.UploadStart{Length: 6, Fields: files.UploadFields{Filename: "file", Names: files.ResumableUploadNames()}}
	_, _, err = w.Service.Visitors.StartFile(ctx, links.Visitor{Token: token}, start)
	w.OK(err)
	again := repositorytest.NewStill(w.Meta, w.Blobs, repository.Config{})
	_, _, err = again.Visitors.StartFile(ctx, links.Visitor{Token: token}, start)
	repositorytest.WantCode(t, err, errs.CodeTooManyRequests)
}
