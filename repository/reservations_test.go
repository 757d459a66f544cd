package repository_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

// TestReservations: what is under way counts, from the moment that its length is known until it ends, in whatever way.
func TestReservations(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{})
	ctx := t.Context()
	w.limitSpace(1000)
	upload, err := w.begin(w.editor, 600)
	w.fits("an upload of 600", err)
	_, err = w.begin(w.Admin, 401)
	w.full("one of 401 beside it", err, "600 bytes more are announced by uploads under way")
	_, err = w.begin(w.Admin, 1<<62)
	w.full("one of more than fits into a number", err)
	_, err = w.put(w.Admin, 401, 0)
	w.full("a form of 401 beside it", err)
	other, err := w.begin(w.Admin, 400)
	w.fits("one of 400 beside it", err)
	w.OK(w.Service.Uploads.Terminate(ctx, w.Admin, other.ID.String()))
	again := repositorytest.NewStill(w.Meta, w.Blobs, repository.Config{})
	if got, of := again.Reserved(w.Space.ID), again.Reserved(w.editor.UserID); got != 600 || of != 600 {
		t.Errorf("a service that starts takes over %d and %d bytes", got, of)
	}
	w.fits("all of the first", w.send(w.editor, upload))
	_, err = w.put(w.Admin, 400, 0)
	w.fits("what is left, exactly", err)
	w.unreserved()
	if w.used() != 1000 {
		t.Errorf("%d bytes are used", w.used())
	}
	empty, err := w.begin(w.editor, 0)
	if err != nil || !empty.Done() {
		t.Errorf("an empty upload: %+v, %v", empty, err)
	}
	w.unreserved()

	w.limitSpace(2000)
	late, err := w.begin(w.editor, 500)
	w.OK(err)
	w.limitSpace(1400)
	w.full("one that began under another quota", w.send(w.editor, late))
	if w.Service.Reserved(w.Space.ID) != 500 {
		t.Errorf("%d bytes are reserved for an upload that waits", w.Service.Reserved(w.Space.ID))
	}
	w.limitSpace(1500)
	late, err = w.Service.Uploads.Get(ctx, w.editor, late.ID.String())
	if err != nil || !late.Done() {
		t.Errorf("when there is room again: %+v, %v", late, err)
	}
	w.unreserved()
	w.Sound()
}

// endless is a body without an end, which counts what is read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	clear(p)
	return len(p), nil
}

// TestQuotaOfUnknownLength: a body is refused as soon as it is longer than what is left, and nothing of it is kept.
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

// TestCommitsAloneHoldQuotas: uploads that have come when the quota is set have reserved nothing; of those no more get in than fit.
func TestCommitsAloneHoldQuotas(t *testing.T) {
	t.Parallel()
	w := newRationed(t, repository.Config{HoldUpTo: 100})
	ctx, set, name := t.Context(), w.Sets[0].ID.String(), "file"
	var ready []*repository.FormUpload
	for range 16 {
		up := w.Service.NewUpload(w.editor)
		w.OK(errors.Join(up.Into(ctx, set), up.Receive(ctx, bytes.NewReader(make([]byte, 90+len(ready))))))
		ready = append(ready, up)
	}
	w.limitSpace(1000)
	var group sync.WaitGroup
	var made atomic.Int64
	for _, up := range ready {
		group.Go(func() {
			_, err := up.Create(ctx, repository.UploadFields{SetID: &set, Name: &name})
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

// TestWritersAgainstQuota: sixteen writers in every way at once are never over by a byte, each gets its answer, nothing stays reserved, and
// a last file that fits exactly is taken.
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
		t.Errorf("%d bytes are used, %d were taken, %d files refused", used, taken.Load(), refused.Load())
	}
	w.unreserved()
	_, err := w.put(w.editor, int(limit-w.used())+1, 0)
	w.full("a byte too many", err)
	_, err = w.put(w.editor, int(limit-w.used()), 0)
	w.fits("what is left", err)
	w.unreserved()
	w.Sound()
}

// way uploads in one of three ways. What is refused in the end is given up.
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
		err = errors.Join(err, w.Service.Uploads.Terminate(w.T.Context(), w.editor, upload.ID.String()))
	}
	return err
}
