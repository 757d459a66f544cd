package resumable_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// undurable returns a service over a store that can be set so that it no longer guarantees
// durability.
func undurable(p *world) (*repository.Service, *undurableStore) {
	meta := &undurableStore{Store: p.Meta}
	return p.over(meta, p.Blobs), meta
}

// TestProgressShownIsDurable: the progress and the result of an upload are shown only after a power
// failure cannot undo them, because the client may then delete its copy of the file.
func TestProgressShownIsDurable(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	done := p.begin(p.Admin, "done", "0123", "0123")
	half := p.begin(p.Admin, "half", "0123", "01")
	ended := p.begin(p.Admin, "ended", "0123", "01")
	p.OK(p.Service.Uploads.Chunks.Terminate(t.Context(), p.Admin, ended.ID.String()))
	svc, meta := undurable(p)
	for _, lost := range []bool{false, true} {
		meta.lost = lost
		if err := svc.Uploads.Chunks.Terminate(t.Context(), p.Admin, ended.ID.String()); errors.Is(err, metadata.ErrNotDurable) != lost {
			t.Errorf("lost: %t: ending a missing upload: %v", lost, err)
		}
		for _, of := range []metadata.ResumableUpload{done, half} {
			_, got := svc.Uploads.Chunks.Get(t.Context(), p.Admin, of.ID.String())
			_, sent := svc.Uploads.Chunks.Append(t.Context(), p.Admin, of.ID.String(), resumable.Chunk{
				Offset: of.Checkpoint.Size, Body: strings.NewReader(""), Stop: func() {},
			})
			if errors.Is(got, metadata.ErrNotDurable) != lost || errors.Is(sent, metadata.ErrNotDurable) != lost {
				t.Errorf("%s, lost: %t: progress: %v; an empty chunk: %v", of.Name, lost, got, sent)
			}
		}
	}
}

// hooked is a blob store that calls a function before it removes a file.
type hooked struct {
	blobs.Folder
	before func()
}

func (d *hooked) RemovePartial(name string) error {
	d.before()
	return d.Folder.RemovePartial(name)
}

// unremovable is a blob store that cannot remove partial files for a while.
type unremovable struct {
	blobs.Folder
	yes bool
}

func (s *unremovable) RemovePartial(name string) error {
	if s.yes {
		return blobs.ErrUnavailable
	}
	return s.Folder.RemovePartial(name)
}

// TestUnremovableFileExpires: a file that cannot be removed after its upload has ended causes no
// error. The expiry removes it later.
func TestUnremovableFileExpires(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	store := &unremovable{p.Blobs, true}
	svc := p.over(p.Meta, store)
	given, half := p.begin(p.Admin, "given up", "0123", "01"), p.begin(p.Admin, "half", "0123", "01")
	p.OK(svc.Uploads.Chunks.Terminate(t.Context(), p.Admin, given.ID.String()))
	whole := p.begin(p.Admin, "whole", "4567", "45")
	made, err := svc.Uploads.Chunks.Append(t.Context(), p.Admin, whole.ID.String(), resumable.Chunk{Offset: 2, Length: 2, Body: strings.NewReader("67"), Stop: func() {}})
	if err != nil || !made.Done() {
		t.Fatalf("%+v, %v", made, err)
	}
	store.yes = false
	p.OK(svc.Uploads.Chunks.Expire(t.Context()))
	var left []string
	p.OK(p.Blobs.WalkPartials(t.Context(), func(name string) error {
		left = append(left, name)
		return nil
	}))
	if !slices.Equal(left, []string{half.ID.String()}) {
		t.Errorf("the remaining partial files: %q", left)
	}
}

// TestExpiryKeepsContinuedUpload: an upload continues if a chunk arrives while it expires, even if
// the expiry has begun.
func TestExpiryKeepsContinuedUpload(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	first := p.begin(p.Admin, "first", "0123", "01")
	p.now = p.now.Add(time.Second) // the upload expires after the first chunk
	second := p.begin(p.Admin, "second", "abcd", "ab")
	store := &hooked{Folder: p.Blobs}
	svc := p.over(p.Meta, store)
	body, client := io.Pipe()
	ended := make(chan error)
	go func() {
		_, err := svc.Uploads.Chunks.Append(t.Context(), p.Admin, second.ID.String(), resumable.Chunk{Offset: 2, Length: -1, Body: body, Stop: func() {}})
		ended <- err
	}()
	_, err := client.Write([]byte("c"))
	p.OK(err)
	p.now = p.now.Add(61 * time.Minute)
	store.before = func() {
		store.before = func() {}
		p.OK(client.Close())
		p.OK(<-ended)
	}
	p.OK(svc.Uploads.Chunks.Expire(t.Context()))
	_, err = svc.Uploads.Chunks.Get(t.Context(), p.Admin, first.ID.String())
	repositorytest.WantCode(t, err, errs.CodeUploadNotFound)
	got, err := svc.Uploads.Chunks.Get(t.Context(), p.Admin, second.ID.String())
	if err != nil || got.Checkpoint.Size != 3 {
		t.Errorf("the second upload is at %d, %v", got.Checkpoint.Size, err)
	}
}

// TestAbandonedFileRemoved: a committed file without a record is removed with its upload, unless
// another record needs it.
func TestAbandonedFileRemoved(t *testing.T) {
	t.Parallel()
	for _, needed := range []bool{false, true} {
		for _, expires := range []bool{false, true} {
			p := newWorld(t)
			const content = "0123456789"
			ctx, begun := t.Context(), p.waiting(content)
			whole, err := p.Blobs.StagePartial(t.Context(), blobs.Partial{Name: begun.ID.String(), At: begun.Checkpoint})
			p.OK(err)
			_, err = whole.Commit(t.Context())
			p.OK(err) // received before the disk was full
			if needed {
				p.Upload(p.Sets[0], content)
			}
			if expires {
				p.now = p.now.Add(61 * time.Minute)
				p.OK(p.Service.Uploads.Chunks.Expire(ctx))
			} else {
				p.OK(p.Service.Uploads.Chunks.Terminate(ctx, p.Admin, begun.ID.String()))
			}
			if _, err := os.Stat(p.Path(begun.Digest)); needed && err != nil || !needed && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("needed: %t, expires: %t: %v", needed, expires, err)
			}
			p.Sound()
		}
	}
}

// undurableStore is a store that can no longer guarantee durability.
type undurableStore struct {
	metadata.Store
	lost bool
}

func (f *undurableStore) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	if f.lost {
		return metadata.ErrNotDurable
	}
	return f.Store.ViewDurable(ctx, fn)
}
