package repository_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// inlineDisk is a repository with its files on disk and with inline bodies.
type inlineDisk struct{ *repositorytest.Disk }

// seam is a blob store that calls a function before CommitAll, or instead of it.
type seam struct {
	blobs.Folder
	before func() error
}

func (s *seam) CommitAll(ctx context.Context, bodies iter.Seq[[]byte]) ([]blobs.Content, error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return nil, err
		}
	}
	return s.Folder.CommitAll(ctx, bodies)
}

// newInline returns a repository over real files in which bodies of up to 10 bytes are inline. Only
// a test flushes them. The content of each resource is its name.
func newInline(t *testing.T, names ...string) (*inlineDisk, *seam) {
	t.Helper()
	return newObservedInline(t, repository.Observer{}, names...)
}

// newObservedInline is like newInline, with an observer.
func newObservedInline(t *testing.T, observer repository.Observer, names ...string) (*inlineDisk, *seam) {
	t.Helper()
	files := &seam{}
	config := repository.Config{HoldUpTo: 10, Observer: observer}
	k := &inlineDisk{repositorytest.NewDiskOver(t, config, func(store blobs.Folder) blobs.Folder {
		files.Folder = store
		return files
	}, 0)}
	for _, name := range names {
		k.Resources = append(k.Resources, k.Upload(k.Sets[0], name))
	}
	t.Cleanup(func() { k.Sound() })
	return k, files
}

// wantBodies compares the number of inline bodies and their bytes.
func (k *inlineDisk) wantBodies(when string, bodies, size int64) {
	k.T.Helper()
	if got, want := k.Service.Monitor.Condition(k.T.Context()).Detail.Inline, (metadata.BodyCount{Bodies: bodies, Bytes: size}); got != want {
		k.T.Errorf("%s: the condition reports %+v inline, want %+v", when, got, want)
	}
	k.OK(k.Meta.View(k.T.Context(), func(tx *metadata.Tx) error {
		got, err := tx.InlineBodies.Total()
		if want := (metadata.BodyCount{Bodies: bodies, Bytes: size}); got != want {
			k.T.Errorf("%s: inline %+v, want %+v", when, got, want)
		}
		return err
	}))
}

// wantFile compares whether a resource has a committed file.
func (k *inlineDisk) wantFile(when string, r metadata.Resource, want bool) {
	k.T.Helper()
	if _, err := os.Lstat(k.Path(r.Digest)); (err == nil) != want {
		k.T.Errorf("%s: %q has a file: %t, want %t", when, r.Name, err == nil, want)
	}
}

// wantContent reads a file.
func (k *inlineDisk) wantContent(when string, r metadata.Resource, want string) {
	k.T.Helper()
	if got, err := k.Content(r.ID); err != nil || got != want {
		k.T.Errorf("%s: %q has the content %q, %v; want %q", when, r.Name, got, err, want)
	}
}

func (k *inlineDisk) flush() {
	k.T.Helper()
	k.OK(k.Service.FlushInline(k.T.Context()))
}

// TestFlushChangesNoResource: a body within the limit is inline, and flushing it does not change
// its resource.
func TestFlushChangesNoResource(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 11)
	k, _ := newInline(t, "a", "ten bytes.", long, "b", "b")
	k.wantBodies("before", 4, 1+10+1+1)
	for _, r := range k.Resources {
		k.wantFile("before", r, r.Name == long)
		k.wantContent("before", r, r.Name)
	}
	found, result := k.Check(k.Upkeep, maintenance.CheckOptions{NoData: true})
	if want := int64(len("a") + 10 + 11 + 1 + 1); len(found) > 0 || result.Blobs != 5 || result.Bytes != want {
		t.Errorf("a check finds %v and reads %+v", found, result)
	}
	for n := range 2 {
		_, part := k.Check(k.Upkeep, maintenance.CheckOptions{Subset: maintenance.Subset{N: n + 1, T: 2}})
		result.Blobs, result.Bytes = result.Blobs-part.Blobs, result.Bytes-part.Bytes
	}
	if result.Blobs != 0 || result.Bytes != 0 {
		t.Errorf("checks of both halves leave %+v", result)
	}
	k.flush()
	k.wantBodies("after", 0, 0)
	for _, before := range k.Resources {
		k.wantFile("after", before, true)
		k.wantContent("after", before, before.Name)
		after := k.Get(before.ID)
		if after.Body != metadata.InBlob || after.Tag() != before.Tag() {
			t.Errorf("%q: body %d, tag %s; before %s", before.Name, after.Body, after.Tag(), before.Tag())
		}
		after.Body = before.Body
		if after != before {
			t.Errorf("a flush has changed\n%+v to\n%+v", before, after)
		}
	}
	k.flush()
}

// TestEmptyBodyInline: an empty file is inline like any other small body.
func TestEmptyBodyInline(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "a")
	r := k.Replace(k.Resources[0], "")
	k.wantBodies("before", 2, 1)
	k.wantContent("before", r, "")
	k.flush()
	k.wantFile("after", r, true)
	k.wantContent("after", r, "")
}

// TestInlineBodyReplaced replaces small and large bodies in each combination. The body of the
// former version stays inline until it is flushed.
func TestInlineBodyReplaced(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 11)
	k, _ := newInline(t, "small", long, "moved")
	small, large := k.Resources[0], k.Resources[1]
	small = k.Replace(small, "other")
	large = k.Replace(large, "less")
	k.wantBodies("both small", 4, 5+5+4+5)
	k.wantContent("small by small", small, "other")
	k.wantContent("large by small", large, "less")
	k.Sound()
	small = k.Replace(small, long+long)
	k.wantBodies("one small", 4, 5+5+4+5)
	k.wantContent("small by large", small, long+long)
	k.flush()
	large = k.Replace(large, "again")
	k.wantBodies("a flushed body replaced by a small one", 1, 5)
	k.wantContent("a flushed body replaced by a small one", large, "again")
	k.Sound()
	k.flush()
	k.wantContent("moved twice", large, "again")
}

// TestInlineBodyDeletedAndPurged: a resource with an inline body is deleted, purged, restored and
// edited like any other.
func TestInlineBodyDeletedAndPurged(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "gone", "back", "edited")
	k.Delete(k.Resources[0])
	back := k.Delete(k.Resources[1])
	back, err := k.Service.Files.Restore(t.Context(), k.Admin, back.ID.String(), repositorytest.Always)
	k.OK(err)
	_, err = k.Service.Files.Edit(t.Context(), k.Admin, k.Resources[2].ID.String(), edit("new"), core.Match{})
	k.OK(err)
	k.wantBodies("before the purge", 3, 4+4+6)
	k.wantContent("restored", back, "back")
	k.Sound()
	dry := k.Purge(maintenance.PurgeOptions{DryRun: true})
	done := k.Purge(maintenance.PurgeOptions{})
	if want := (maintenance.PurgeResult{Resources: 1, ResourceBytes: 4}); dry != want || done != want {
		t.Errorf("dry %+v, done %+v, want %+v", dry, done, want)
	}
	k.wantBodies("after the purge", 2, 4+6)
	if r := k.Get(k.Resources[0].ID); r.Body != metadata.Purged {
		t.Errorf("body %d", r.Body)
	}
	k.Sound()
	k.flush()
	k.wantFile("purged", k.Resources[0], false)
	k.wantContent("moved", back, "back")
}

// TestInlineBytesBounded: purged or uncommitted bodies do not count towards the limit for later
// uploads.
func TestInlineBytesBounded(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "purged", "replaced")
	want := func(when string, bytes int64) {
		t.Helper()
		if got := k.Service.InlineBytes(); got != bytes {
			t.Errorf("%s: %d bytes, want %d", when, got, bytes)
		}
	}
	want("before", 6+8)
	k.KeepLast(1)
	k.Delete(k.Resources[0])
	k.Replace(k.Resources[1], strings.Repeat("l", 11))
	k.Purge(maintenance.PurgeOptions{})
	k.wantBodies("when both are gone", 0, 0)
	k.flush()
	want("when both are gone", 0)
}

// TestFlushDuringChanges replaces, deletes and purges resources after the flusher has read their
// bodies, and before it commits.
func TestFlushDuringChanges(t *testing.T) {
	t.Parallel()
	k, files := newInline(t, "replaced", "deleted", "purged", "stays")
	files.before = func() error {
		for _, r := range k.Resources {
			if now := k.Get(r.ID); now.Body != metadata.Inline {
				t.Errorf("before it is a file, the body of %q is %d", r.Name, now.Body)
			}
		}
		k.Replace(k.Resources[0], "new")
		k.Delete(k.Resources[2])
		k.Purge(maintenance.PurgeOptions{})
		k.Delete(k.Resources[1])
		files.before = nil
		return nil
	}
	k.flush()
	k.Sound()
	k.wantContent("replaced", k.Resources[0], "new")
	k.wantContent("stays", k.Resources[3], "stays")
	for i, want := range []metadata.BodyLocation{metadata.Inline, metadata.InBlob, metadata.Purged, metadata.InBlob} {
		if got := k.Get(k.Resources[i].ID); got.Body != want && !(i == 0 && got.Body == metadata.InBlob) {
			t.Errorf("%q: body %d, want %d", k.Resources[i].Name, got.Body, want)
		}
	}
	// The extra file of the flush is unreferenced, and the next purge removes it.
	if result := k.Purge(maintenance.PurgeOptions{DryRun: true}); result.Orphans != 1 || result.Resources != 1 || result.Versions != 0 {
		t.Errorf("the next purge would find %+v", result)
	}
}

// TestFlushPinsAgainstPurge: the digests of a batch are pinned, so that a purge does not remove
// files without a row.
func TestFlushPinsAgainstPurge(t *testing.T) {
	t.Parallel()
	k, files := newInline(t, "a", "a")
	store := files.Folder
	files.Folder = afterCommit{store, func() {
		if _, err := os.Lstat(k.Path(k.Resources[0].Digest)); err != nil {
			t.Error(err)
		}
		if result := k.Purge(maintenance.PurgeOptions{}); result != (maintenance.PurgeResult{}) {
			t.Errorf("purged %+v", result)
		}
	}}
	k.flush()
	files.Folder = store
	k.wantContent("after", k.Resources[0], "a")
	k.wantContent("after", k.Resources[1], "a")
}

// afterCommit is a blob store that calls a function after CommitAll.
type afterCommit struct {
	blobs.Folder
	after func()
}

func (p afterCommit) CommitAll(ctx context.Context, bodies iter.Seq[[]byte]) ([]blobs.Content, error) {
	defer p.after()
	return p.Folder.CommitAll(ctx, bodies)
}

// TestFailedFlushLosesNothing: bodies that could not be flushed stay unchanged, and are flushed the
// next time.
func TestFailedFlushLosesNothing(t *testing.T) {
	t.Parallel()
	k, files := newInline(t, "a", "b")
	files.before = func() error { return blobs.ErrNoSpace }
	k.Refused(k.Service.FlushInline(t.Context()), errs.CodeNoSpace)
	k.wantBodies("after a full disk", 2, 2)
	k.wantContent("after a full disk", k.Resources[0], "a")
	k.Sound()
	files.before = nil
	k.flush()
	k.wantBodies("after the move", 0, 0)
	k.wantContent("after the move", k.Resources[0], "a")
}

// TestFlushSkipsBrokenFolder: a body that cannot be written, for instance because of its
// folder, does not block the others.
func TestFlushSkipsBrokenFolder(t *testing.T) {
	t.Parallel()
	k, files := newInline(t, "a", "b", "c", "d", "e", "f")
	broken := k.Resources[2]
	folder := filepath.Dir(k.Path(broken.Digest))
	k.OK(os.WriteFile(folder, nil, 0o600)) // the folder does not exist yet
	calls := 0
	files.before = func() error { calls++; return nil }
	for n, most := range []int{7, 1} {
		calls = 0
		k.Refused(k.Service.FlushInline(t.Context()), errs.CodeInternal)
		k.wantBodies("while a folder is broken", 1, 1)
		if calls > most {
			t.Errorf("flush %d took %d attempts", n, calls)
		}
	}
	for _, r := range k.Resources {
		k.wantFile("while a folder is broken", r, r.ID != broken.ID)
		k.wantContent("while a folder is broken", r, r.Name)
	}
	k.OK(errors.Join(os.Remove(folder), os.Mkdir(folder, 0o700)))
	k.flush()
	k.wantBodies("when it is repaired", 0, 0)
}

// TestNoFlushAfterFailedSync: after a failed sync, nothing is written.
func TestNoFlushAfterFailedSync(t *testing.T) {
	t.Parallel()
	k, files := newInline(t, "a")
	files.before = func() error { return blobs.ErrUnsynced }
	k.Refused(k.Service.FlushInline(t.Context()), errs.CodeReadOnly)
	files.before = nil
	k.Refused(k.Service.FlushInline(t.Context()), errs.CodeReadOnly)
	_, err := k.TryUpload(k.Sets[0], "b")
	k.Refused(err, errs.CodeReadOnly)
	k.wantBodies("after", 1, 1)
	k.wantContent("after", k.Resources[0], "a")
}

// TestRefusedInlineUploadLeavesNothing: a refused upload leaves no body and no file.
func TestRefusedInlineUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	k, _ := newInline(t, "a")
	_, err := k.Service.Sets.Delete(t.Context(), k.Admin, k.Sets[0].ID.String(), repositorytest.Always)
	k.OK(err)
	_, err = k.TryUpload(k.Sets[0], "b")
	k.Refused(err, errs.CodeParentDeleted)
	k.wantBodies("after", 1, 1)
	entries, err := os.ReadDir(k.Dir + "/tmp")
	k.OK(err)
	if len(entries) > 0 {
		t.Errorf("in tmp: %v", entries)
	}
}

// TestFlushWaitsForIdleWindow: nothing is flushed during uploads and reads. All bodies are flushed
// soon afterwards, including bodies from before a restart.
func TestFlushWaitsForIdleWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, files := newInline(t, "left")
		svc := repository.New(k.Meta, files, repository.Config{PageSize: 1000, DirectoryPageSize: 1000, HoldUpTo: 10})
		k.Service = svc
		defer svc.Close()
		slow := svc.Uploads.NewUpload(k.Admin)
		body, rest := io.Pipe()
		received := make(chan error, 1)
		go func() { received <- slow.Receive(t.Context(), body) }()
		r := k.Upload(k.Sets[0], "new")
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		k.wantFile("while another is under way", r, false)
		_, err := rest.Write([]byte("slow"))
		k.OK(errors.Join(err, rest.Close(), <-received, slow.Discard()))
		for range 20 {
			_, file, err := svc.Files.OpenResource(t.Context(), k.Admin, r.ID.String())
			k.OK(errors.Join(err, file.Close()))
			time.Sleep(50 * time.Millisecond)
		}
		synctest.Wait()
		k.wantFile("during a read", r, false)
		time.Sleep(time.Second)
		synctest.Wait()
		k.wantFile("when all is idle", r, true)
		k.wantFile("when all is idle", k.Resources[0], true)
		k.wantBodies("when all is idle", 0, 0)
	})
}
