package repository_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/auth"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// TestReservations: an upload reserves the received bytes until it ends in any way. An upload whose
// announced length exceeds the free capacity is refused and reserves nothing.
func TestReservations(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{})
	ctx := t.Context()
	w.limitSpace(1000)
	for range 3 {
		_, err := w.begin(w.editor, 1000)
		w.fits("an upload that is announced", err)
	}
	for _, length := range []int64{1001, 1 << 62} {
		_, err := w.begin(w.editor, length)
		w.full("an upload that is too long", err)
		_, err = w.put(w.editor, 1, length)
		w.full("a form that is too long", err)
	}
	w.unreserved()
	upload, err := w.begin(w.editor, 600)
	w.OK(err)
	upload, err = w.sendSome(w.editor, upload, 500)
	w.OK(err)
	w.holds("the received bytes", 500)
	_, err = w.begin(w.Admin, 501)
	w.full("another upload of 501 bytes", err, "uploads in progress have reserved 500 bytes")
	_, err = w.put(w.Admin, 501, 0)
	w.full("a form of 501 bytes", err)
	again := repositorytest.NewStill(w.Meta, w.Blobs, repository.Config{})
	if got, of := again.Reserved(w.Space.ID), again.Reserved(w.editor.UserID); got != 500 || of != 500 {
		t.Errorf("a started service has reserved %d and %d bytes", got, of)
	}
	_, err = w.put(w.Admin, 450, 450)
	w.fits("a form of 450 bytes", err)
	upload, err = w.sendSome(w.editor, upload, 100)
	w.full("the rest of the first", err)
	w.holds("the part that fits", upload.Checkpoint.Size)
	w.limitSpace(1050)
	_, err = w.sendSome(w.editor, upload, int(600-upload.Checkpoint.Size))
	w.fits("the rest, with enough capacity", err)
	w.unreserved()
	if w.used() != 1050 {
		t.Errorf("%d bytes are used", w.used())
	}
	empty, err := w.begin(w.editor, 0)
	if err != nil || !empty.Done() {
		t.Errorf("an empty upload: %+v, %v", empty, err)
	}
	w.limitSpace(2000)
	other, err := w.begin(w.Admin, 400)
	w.OK(err)
	_, err = w.sendSome(w.Admin, other, 300)
	w.OK(err)
	w.OK(w.Service.Uploads.Chunks.Terminate(ctx, w.Admin, other.ID.String()))
	w.unreserved()
	w.Sound()
}

// TestRefusedChunksReserveNothing: a chunk with a wrong checksum is dropped and reserves nothing.
func TestRefusedChunksReserveNothing(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{})
	w.limitSpace(1000)
	upload, err := w.begin(w.editor, 900)
	w.OK(err)
	wrong := errors.New("another checksum")
	_, err = w.Service.Uploads.Chunks.Append(t.Context(), w.editor, upload.ID.String(), resumable.Chunk{
		Length: 800, Body: bytes.NewReader(make([]byte, 800)), Stop: func() {}, Verify: func() error { return wrong },
	})
	if !errors.Is(err, wrong) {
		t.Errorf("a chunk with a wrong checksum: %v", err)
	}
	w.unreserved()
}

// holds fails the test unless this number of bytes is reserved in the dataspace and for the editor.
func (w *rationed) holds(what string, bytes int64) {
	w.T.Helper()
	if got, of := w.Service.Reserved(w.Space.ID), w.Service.Reserved(w.editor.UserID); got != bytes || of != bytes {
		w.T.Errorf("%s: %d and %d bytes are reserved, want %d", what, got, of, bytes)
	}
}

// sendSome sends bytesSent bytes of a resumable upload.
func (w *rationed) sendSome(p auth.Principal, t metadata.ResumableUpload, bytesSent int) (metadata.ResumableUpload, error) {
	return w.Service.Uploads.Chunks.Append(w.T.Context(), p, t.ID.String(), resumable.Chunk{
		Offset: t.Checkpoint.Size, Length: int64(bytesSent), Body: bytes.NewReader(make([]byte, bytesSent)), Stop: func() {},
	})
}

// endless is a body without an end. It counts the bytes that are read.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	clear(p)
	return len(p), nil
}

// TestQuotaOfUnknownLength: a body is refused as soon as it exceeds the free bytes, and none of its
// bytes are kept.
func TestQuotaOfUnknownLength(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{HoldUpTo: 100})
	const limit = 5 << 20
	w.limitUser(w.editor, limit)
	body := &endless{}
	_, err := w.putBody(w.editor, body, 0)
	w.full("a body without an end", err)
	if body.read < limit || body.read > limit+4<<20 {
		t.Errorf("%d bytes of it were read", body.read)
	}
	body = &endless{}
	_, err = w.putBody(w.editor, body, limit+1)
	w.full("one that announces too much", err)
	if body.read > 0 {
		t.Errorf("%d bytes of it were read", body.read)
	}
	w.unreserved()
	_, err = w.put(w.editor, limit, 0)
	w.fits("one that fits exactly", err)
	w.unreserved()
	w.Sound()
}

// TestCommitsObeyQuotaWithoutReservations: uploads received before the quota was set have no
// reservations. Only as many are committed as the quota allows.
func TestCommitsObeyQuotaWithoutReservations(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{HoldUpTo: 100})
	ctx, set, name := t.Context(), w.Sets[0].ID.String(), "file"
	var ready []*files.Upload
	for range 16 {
		up := w.Service.Uploads.NewUpload(w.editor)
		w.OK(errors.Join(up.Into(ctx, set), up.Receive(ctx, bytes.NewReader(make([]byte, 90+len(ready))))))
		ready = append(ready, up)
	}
	w.limitSpace(1000)
	var group sync.WaitGroup
	var made atomic.Int64
	for _, up := range ready {
		group.Go(func() {
			_, err := up.Create(ctx, files.UploadFields{SetID: &set, Name: &name})
			if err == nil {
				made.Add(1)
			} else {
				w.full("one too many", err)
			}
		})
	}
	group.Wait()
	for _, up := range ready {
		w.OK(up.Discard())
	}
	if used := w.used(); used > 1000 || used < 1000-105 || made.Load() < 9 {
		t.Errorf("%d files of %d bytes", made.Load(), used)
	}
	w.Sound()
}

// TestWritersAgainstQuota: sixteen concurrent writers of all kinds never exceed the quota. Each
// gets a response, and no reservation remains. A last file that fits exactly is accepted.
func TestWritersAgainstQuota(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{HoldUpTo: 100})
	const limit = 20_000
	w.limitSpace(limit)
	var group sync.WaitGroup
	var taken, refused atomic.Int64
	for n := range 16 {
		group.Go(func() {
			sizes := rand.New(rand.NewPCG(1, uint64(n)))
			for range 20 {
				size := sizes.IntN(300)
				err := w.way(n%3, size)
				switch {
				case err == nil:
					taken.Add(int64(size))
				default:
					refused.Add(1)
					w.full("a writer", err)
				}
				if used := w.used(); used > limit {
					t.Errorf("%d bytes are used", used)
				}
			}
		})
	}
	group.Wait()
	if used := w.used(); used != taken.Load() || refused.Load() == 0 {
		t.Errorf("%d bytes are used, %d were accepted, %d files refused", used, taken.Load(), refused.Load())
	}
	w.unreserved()
	_, err := w.put(w.editor, int(limit-w.used())+1, 0)
	w.full("a byte too many", err)
	_, err = w.put(w.editor, int(limit-w.used()), 0)
	w.fits("the remaining capacity", err)
	w.unreserved()
	w.Sound()
}

// way uploads in one of three ways. A refused upload is cancelled.
func (w *rationed) way(which, size int) error {
	if which < 2 {
		_, err := w.put(w.editor, size, int64(which*size))
		return err
	}
	upload, err := w.begin(w.editor, int64(size))
	if err != nil || upload.Done() {
		return err
	}
	if err = w.send(w.editor, upload); err != nil {
		err = errors.Join(err, w.Service.Uploads.Chunks.Terminate(w.T.Context(), w.editor, upload.ID.String()))
	}
	return err
}
