package repository_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/files"
	"labshelf/repository/folders"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// twoNodes runs a test with two nodes in memory, in a bubble where waiting takes no real time.
func twoNodes(t *testing.T, config repository.Config, test func(a, b *repositorytest.World, ofA, ofB *repositorytest.Shared)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		config.PageSize, config.DirectoryPageSize = 100, 100
		a, b, ofA, ofB := repositorytest.NewCluster(t, metadatatest.NewMemory(time.Now), config, 0)
		defer b.Service.Close()
		defer a.Service.Close()
		synctest.Wait()
		test(a, b, ofA, ofB)
	})
}

// TestFlushedByOtherNode: a node flushes the bodies that another node has received, even after the
// other node has stopped.
func TestFlushedByOtherNode(t *testing.T) {
	left := func(w *repositorytest.World) int64 {
		return w.Service.Monitor.Condition(w.T.Context()).Detail.Inline.Bodies
	}
	twoNodes(t, repository.Config{HoldUpTo: 100}, func(a, b *repositorytest.World, ofA, _ *repositorytest.Shared) {
		r := b.Upload(b.Sets[0], "to b")
		time.Sleep(2 * time.Second)
		if n := left(b); n != 0 {
			a.T.Errorf("a has left %d bodies", n)
		}
		ofA.Fail(errors.New("killed"))
		b.Upload(b.Sets[0], "to b again")
		time.Sleep(12 * time.Second)
		if n := left(b); n != 0 {
			a.T.Errorf("b has left %d bodies", n)
		}
		if content, err := b.Content(r.ID); err != nil || content != "to b" {
			a.T.Errorf("%q, %v", content, err)
		}
	})
}

// begin begins a file that is sent in chunks.
func begin(w *repositorytest.World, whole, first string) metadata.ResumableUpload {
	w.T.Helper()
	set, name := w.Sets[0].ID.String(), "file"
	t, err := w.Service.Uploads.Create(w.T.Context(), w.Admin, files.UploadStart{Fields: files.UploadFields{SetID: &set, Name: &name}, Length: int64(len(whole))})
	w.OK(err)
	t, err = add(w, t, strings.NewReader(first))
	w.OK(err)
	return t
}

func add(w *repositorytest.World, t metadata.ResumableUpload, more io.Reader) (metadata.ResumableUpload, error) {
	return w.Service.Uploads.Chunks.Append(w.T.Context(), w.Admin, t.ID.String(), resumable.Chunk{Offset: t.Checkpoint.Size, Length: -1, Body: more, Stop: func() {}})
}

// TestUploadContinuesAtOtherNode: an upload that began on one node can continue on the other node,
// even if the first one dies while it holds the lock.
func TestUploadContinuesAtOtherNode(t *testing.T) {
	twoNodes(t, repository.Config{}, func(a, b *repositorytest.World, ofA, _ *repositorytest.Shared) {
		up := begin(a, "0123456789", "01234")
		up, err := add(b, up, strings.NewReader("567"))
		b.OK(err)
		body, client := io.Pipe()
		cut := make(chan error, 1)
		go func() {
			_, err := add(a, up, body)
			cut <- err
		}()
		_, _ = client.Write([]byte("8"))
		synctest.Wait()
		ofA.Fail(errors.New("killed"))
		begun := time.Now()
		done, err := add(b, up, strings.NewReader("89"))
		b.OK(err)
		if took := time.Since(begun); took > 5*time.Second {
			b.T.Errorf("it continues after %v", took)
		}
		if content, err := b.Content(done.Made); err != nil || content != "0123456789" {
			b.T.Errorf("%q, %v", content, err)
		}
		_ = client.Close()
		if err := <-cut; err == nil {
			b.T.Error("bytes that the dead node received are counted")
		}
	})
}

// TestLateChunkIsRefused: a chunk that sends nothing for a while loses its lock to another node. It
// is refused if it continues later.
func TestLateChunkIsRefused(t *testing.T) {
	twoNodes(t, repository.Config{}, func(a, b *repositorytest.World, _, _ *repositorytest.Shared) {
		up := begin(a, "0123456789", "01234")
		body, client := io.Pipe()
		late := make(chan error, 1)
		go func() {
			_, err := add(a, up, body)
			late <- err
		}()
		_, _ = client.Write([]byte("5"))
		at, err := add(b, up, strings.NewReader("567"))
		b.OK(err)
		go func() {
			_, _ = client.Write([]byte("6789"))
			_ = client.Close()
		}()
		defer func() { _ = body.Close() }()
		repositorytest.WantCode(b.T, <-late, errs.CodeLocked)
		now, err := b.Service.Uploads.Chunks.Get(b.T.Context(), b.Admin, up.ID.String())
		if err != nil || now.Checkpoint.Size != at.Checkpoint.Size {
			b.T.Errorf("the offset is %d instead of %d, %v", now.Checkpoint.Size, at.Checkpoint.Size, err)
		}
	})
}

// TestBusyUploadKeepsItsLock: while data arrives at one node, another node does not get the lock.
func TestBusyUploadKeepsItsLock(t *testing.T) {
	twoNodes(t, repository.Config{}, func(a, b *repositorytest.World, _, _ *repositorytest.Shared) {
		up := begin(a, strings.Repeat("x", 100), "x")
		body, client := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := add(a, up, body)
			ended <- err
		}()
		_, _ = client.Write([]byte("x")) // now a has the lock
		go func() {
			for range 40 {
				_, _ = client.Write([]byte("x"))
				time.Sleep(500 * time.Millisecond)
			}
			_ = client.Close()
		}()
		_, err := add(b, up, strings.NewReader("x"))
		repositorytest.WantCode(b.T, err, errs.CodeLocked)
		b.OK(<-ended)
	})
}

// TestFoldersAreLockedForAllNodes: while one node moves a folder in steps, another node cannot
// change anything in it or around it. If the first node dies, the other one can do so afterwards.
func TestFoldersAreLockedForAllNodes(t *testing.T) {
	for name, dies := range map[string]bool{"it ends": false, "it dies": true} {
		t.Run(name, func(t *testing.T) {
			twoNodes(t, repository.Config{}, func(a, b *repositorytest.World, ofA, _ *repositorytest.Shared) {
				ctx, set := a.T.Context(), a.Sets[0]
				a.Upload(set, "deep/in/file")
				key := func(path string) metadata.FolderKey { return metadata.FolderKey{SetID: set.ID, Path: path} }
				steps, blocked, release := 0, make(chan struct{}), make(chan struct{})
				ofA.BeforeUpdates(func() {
					if steps++; steps == 2 { // the first update acquires the lease
						close(blocked)
						<-release
					}
				})
				moved := make(chan error, 1)
				go func() {
					_, err := moveFolder(ctx, a.Service, a.Admin, key("deep/"), key("moved/"), folders.RefuseExisting)
					moved <- err
				}()
				<-blocked
				ofA.BeforeUpdates(nil)
				for _, path := range []string{"deep/", "deep/in/", "moved/there/"} {
					_, err := deleteFolder(ctx, b.Service, b.Admin, key(path))
					repositorytest.WantCode(b.T, err, errs.CodeBusy)
				}
				if dies {
					ofA.Fail(errors.New("killed"))
					time.Sleep(9 * time.Second)
					_, err := deleteFolder(ctx, b.Service, b.Admin, key("deep/"))
					b.OK(err)
					ofA.Fail(nil)
					close(release)
					repositorytest.WantCode(b.T, <-moved, errs.CodeLocked)
					return
				}
				close(release)
				a.OK(<-moved)
				_, err := deleteFolder(ctx, b.Service, b.Admin, key("moved/"))
				b.OK(err)
			})
		})
	}
}

// TestOnePurgeAtATime: another node can purge after the purge of the first node has ended.
func TestOnePurgeAtATime(t *testing.T) {
	twoNodes(t, repository.Config{}, func(a, b *repositorytest.World, ofA, _ *repositorytest.Shared) {
		ctx := a.T.Context()
		first, err := a.Service.Monitor.Upkeep(ctx, a.Admin)
		a.OK(err)
		second, err := b.Service.Monitor.Upkeep(ctx, b.Admin)
		b.OK(err)
		updates, blocked, release := 0, make(chan struct{}), make(chan struct{})
		ofA.BeforeUpdates(func() {
			if updates++; updates == 2 {
				close(blocked)
				<-release
			}
		})
		done := make(chan error, 1)
		go func() {
			_, err := first.Purge(ctx, maintenance.PurgeOptions{})
			done <- err
		}()
		<-blocked
		ofA.BeforeUpdates(nil)
		_, err = second.Purge(ctx, maintenance.PurgeOptions{})
		repositorytest.WantCode(b.T, err, errs.CodeBusy)
		close(release)
		a.OK(<-done)
		_, err = second.Purge(ctx, maintenance.PurgeOptions{})
		b.OK(err)
	})
}

// TestEventsOfOtherNode: a stream receives the events of commits on another node.
func TestEventsOfOtherNode(t *testing.T) {
	twoNodes(t, repository.Config{}, func(a, b *repositorytest.World, _, _ *repositorytest.Shared) {
		ctx := a.T.Context()
		stream, err := b.Service.Events.Open(ctx, b.Admin, "")
		b.OK(err)
		defer stream.Close()
		_, err = stream.Next(ctx)
		b.OK(err)
		begun := time.Now()
		r := a.Upload(a.Sets[0], "file")
		batch, err := stream.Next(ctx)
		b.OK(err)
		if len(batch.Events) != 1 || batch.Events[0].Object.ID != [16]byte(r.ID) {
			b.T.Errorf("%+v", batch)
		}
		if took := time.Since(begun); took > 2*time.Second {
			b.T.Errorf("it receives the event after %v", took)
		}
	})
}

// TestKeyEndsAtAllNodes: a key that is revoked on one node is refused by the next request on the
// other node.
func TestKeyEndsAtAllNodes(t *testing.T) {
	twoNodes(t, repository.Config{}, func(a, b *repositorytest.World, _, _ *repositorytest.Shared) {
		ctx := a.T.Context()
		made, text, err := a.Service.Users.CreateKey(ctx, a.Admin, "me", containers.KeyFields{})
		a.OK(err)
		_, err = b.Service.Credentials.Authenticate(ctx, text, auth.Origin{})
		b.OK(err)
		a.OK(a.Service.Users.RevokeKey(ctx, a.Admin, "me", made.ID.String(), false))
		_, err = b.Service.Credentials.Authenticate(ctx, text, auth.Origin{})
		repositorytest.WantCode(b.T, err, errs.CodeUnauthenticated)
	})
}

// TestCascadeContinuesAtOtherNode: if a node dies during a deletion, another node completes it.
func TestCascadeContinuesAtOtherNode(t *testing.T) {
	twoNodes(t, repository.Config{}, func(a, b *repositorytest.World, _, ofB *repositorytest.Shared) {
		ctx, set := a.T.Context(), a.Sets[0]
		for i := range 250 {
			a.Upload(set, fmt.Sprint("file ", i))
		}
		var once atomic.Bool
		ofB.BeforeUpdates(func() {
			if once.Swap(true) {
				ofB.Fail(errors.New("killed"))
			}
		})
		_, err := b.Service.Sets.Delete(ctx, b.Admin, set.ID.String(), repositorytest.Always)
		if err == nil {
			b.T.Error("the dead node has returned")
		}
		time.Sleep(2 * time.Second)
		for id, state := range a.Listed() {
			if state == metadata.Active {
				a.T.Errorf("%s is active", id)
				break
			}
		}
	})
}

// TestNewerSchema: if another node has upgraded the metadata to an unknown schema version, a node
// reports that and is not ready.
func TestNewerSchema(t *testing.T) {
	twoNodes(t, repository.Config{}, func(a, _ *repositorytest.World, ofA, _ *repositorytest.Shared) {
		a.OK(a.Service.Monitor.Ready(a.T.Context()))
		ofA.Fail(fmt.Errorf("%w: 99", metadata.ErrTooNew))
		err := a.Service.Monitor.Ready(a.T.Context())
		repositorytest.WantCode(a.T, err, errs.CodeNewerSchema)
		if known, _ := errors.AsType[*errs.Error](err); known.Kind != errs.Unavailable {
			a.T.Errorf("kind %v", known.Kind)
		}
		_, err = a.TryUpload(a.Sets[0], "file")
		repositorytest.WantCode(a.T, err, errs.CodeNewerSchema)
	})
}
