package resumable_test

import (
	"errors"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/repository/files"
	"labshelf/repository/links"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// reading is a body whose nth Read, counted from 0, calls fn with n.
type reading struct {
	n  int
	fn func(n int, p []byte) int
}

func (r *reading) Read(p []byte) (int, error) {
	n := r.fn(r.n, p)
	r.n++
	return n, nil
}

// request creates a request link, and begins a file of length bytes through it.
func (p *world) request(length int64) (l metadata.Link, t metadata.ResumableUpload, through *resumable.Uploads) {
	p.T.Helper()
	made, token, err := p.Service.Links.Create(p.T.Context(), p.Admin, links.NewLink{Kind: metadata.RequestLink, SetID: new(p.Sets[0].ID.String())})
	p.OK(err)
	v := links.Visitor{Token: token}
	start := files.UploadStart{Fields: files.UploadFields{Filename: "file", Names: files.ResumableUploadNames()}, Length: length}
	t, secret, err := p.Service.Visitors.StartFile(p.T.Context(), v, start)
	p.OK(err)
	return made.Link, t, p.Service.Visitors.Uploads(v, secret)
}

// TestLinkEndsWithinChunk tests that revoking a link stops a running chunk of its upload at the
// next checkpoint, and that the received data are removed.
func TestLinkEndsWithinChunk(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	p.Service.Uploads.Chunks.CheckpointEvery(4)
	link, upload, through := p.request(100)
	body := &reading{fn: func(n int, b []byte) int {
		if n == 2 {
			p.OK(p.Service.Links.Revoke(t.Context(), p.Admin, link.ID.String()))
		}
		return min(4, len(b))
	}}
	_, err := through.Append(t.Context(), auth.Principal{}, upload.ID.String(), resumable.Chunk{Length: -1, Body: body, Stop: func() {}})
	repositorytest.WantCode(t, err, errs.CodeLinkEnded)
	if body.n != 3 {
		t.Errorf("it was read %d times", body.n)
	}
	p.OK(p.Service.Uploads.Chunks.Expire(t.Context()))
	if got := p.parts(); len(got) != 0 {
		t.Errorf("%q still exists", got)
	}
	err = p.Meta.View(t.Context(), func(tx *metadata.Tx) error {
		_, err := tx.Uploads.Get(upload.ID)
		return err
	})
	if !errors.Is(err, metadata.ErrNotFound) {
		t.Errorf("its row: %v", err)
	}
	p.Sound()
}

// TestOpenLinksKeepUploads: uploads through a link that has not ended are kept, like uploads of
// users.
func TestOpenLinksKeepUploads(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	p.Service.Uploads.Chunks.CheckpointEvery(4)
	_, upload, through := p.request(8)
	own := p.begin(p.Admin, "own", "0123", "01")
	p.OK(p.Service.Uploads.Chunks.Expire(t.Context()))
	own, err := p.add(p.Admin, own, "23")
	if err != nil || !own.Done() {
		t.Errorf("%+v, %v", own, err)
	}
	chunk := resumable.Chunk{Length: 8, Body: strings.NewReader("01230123"), Stop: func() {}}
	if _, err = through.Append(t.Context(), auth.Principal{}, upload.ID.String(), chunk); err != nil {
		t.Fatal(err)
	}
	done, err := through.Get(t.Context(), auth.Principal{}, upload.ID.String())
	if got, failed := p.Content(done.Made); err != nil || failed != nil || got != "01230123" {
		t.Errorf("it is %q, %v, %v", got, err, failed)
	}
	p.Sound()
}
