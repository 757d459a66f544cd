package repository_test

import (
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/blobs"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
)

// seam is a blob store with something to do before PlaceAll, or instead of it.
type seam struct {
	blobs.Store
	before func() error
}

func (s *seam) PlaceAll(bodies iter.Seq[[]byte]) error {
	if s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	return s.Store.PlaceAll(bodies)
}

// newHolding is a repository over real files that holds bodies of up to 10 bytes, and moves them when it is told to. Its resources
// have their names for content.
func newHolding(t *testing.T, names ...string) (*kept, *seam) {
	t.Helper()
	return newWatchedHolding(t, repository.Watch{}, names...)
}

// newWatchedHolding is newHolding with somebody who hears of it.
func newWatchedHolding(t *testing.T, watch repository.Watch, names ...string) (*kept, *seam) {
	t.Helper()
	k := &kept{dir: t.TempDir(), meta: metadatatest.NewMemory(time.Now)}
	var err error
	if k.files, err = blobs.OpenDir(k.dir, unsynced{}); err != nil {
		t.Fatal(err)
	}
	files := &seam{Store: k.files}
	config := repository.Config{PageSize: 1000, DirectoryPageSize: 1000, HoldUpTo: 10, Watch: watch}
	k.held = populated(t, repository.NewHeld(k.meta, files, config), 0)
	for _, name := range names {
		k.held.files = append(k.held.files, k.upload(k.sets[0], name))
	}
	k.upkeep, err = k.svc.Upkeep(t.Context(), k.admin)
	k.ok(err)
	t.Cleanup(func() { k.sound() })
	return k, files
}

// sound checks everything.
func (k *kept) sound() {
	k.t.Helper()
	_, err := k.upkeep.Check(k.t.Context(), repository.CheckOptions{}, repository.CheckEvents{
		Violation: func(v metadata.Violation) { k.t.Errorf("violation: %v", v) },
	})
	if err != nil && k.t.Context().Err() == nil {
		k.t.Error(err)
	}
}

// wantBodies compares how many bodies and bytes are held.
func (k *kept) wantBodies(when string, bodies, size int64) {
	k.t.Helper()
	if got, want := k.svc.Condition(k.t.Context()).Detail.Held, (metadata.BodyCount{Bodies: bodies, Bytes: size}); got != want {
		k.t.Errorf("%s: the condition tells of %+v that are held, want %+v", when, got, want)
	}
	k.ok(k.meta.View(k.t.Context(), func(tx *metadata.Tx) error {
		got, err := tx.Bodies.Total()
		if want := (metadata.BodyCount{Bodies: bodies, Bytes: size}); got != want {
			k.t.Errorf("%s: held %+v, want %+v", when, got, want)
		}
		return err
	}))
}

// wantFile compares whether a resource has a file in its place.
func (k *kept) wantFile(when string, r metadata.Resource, want bool) {
	k.t.Helper()
	if _, err := os.Lstat(k.path(r.Digest)); (err == nil) != want {
		k.t.Errorf("%s: %q has a file: %t, want %t", when, r.Name, err == nil, want)
	}
}

// wantContent reads a file.
func (k *kept) wantContent(when string, r metadata.Resource, want string) {
	k.t.Helper()
	if got, err := k.content(r.ID); err != nil || got != want {
		k.t.Errorf("%s: %q has the content %q, %v; want %q", when, r.Name, got, err, want)
	}
}

func (k *kept) move() {
	k.t.Helper()
	k.ok(k.svc.MoveHeld(k.t.Context()))
}

// TestHeldAndMoved: a body is held up to the limit, and its resource is the same before and after the move.
func TestHeldAndMoved(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 11)
	k, _ := newHolding(t, "a", "ten bytes.", long, "b", "b")
	k.wantBodies("before", 4, 1+10+1+1)
	for _, r := range k.held.files {
		k.wantFile("before", r, r.Name == long)
		k.wantContent("before", r, r.Name)
	}
	found, result := k.check(k.upkeep, repository.CheckOptions{NoData: true})
	if want := int64(len("a") + 10 + 11 + 1 + 1); len(found) > 0 || result.Blobs != 5 || result.Bytes != want {
		t.Errorf("a check finds %v and looks at %+v", found, result)
	}
	for n := range 2 {
		_, part := k.check(k.upkeep, repository.CheckOptions{Subset: repository.Subset{N: n + 1, T: 2}})
		result.Blobs, result.Bytes = result.Blobs-part.Blobs, result.Bytes-part.Bytes
	}
	if result.Blobs != 0 || result.Bytes != 0 {
		t.Errorf("checks of both halves leave %+v", result)
	}
	k.move()
	k.wantBodies("after", 0, 0)
	for _, before := range k.held.files {
		k.wantFile("after", before, true)
		k.wantContent("after", before, before.Name)
		after := k.get(before.ID)
		if after.Body != metadata.Filed || after.Tag() != before.Tag() {
			t.Errorf("%q: body %d, tag %s; before %s", before.Name, after.Body, after.Tag(), before.Tag())
		}
		after.Body = before.Body
		if after != before {
			t.Errorf("a move has changed\n%+v to\n%+v", before, after)
		}
	}
	k.move()
}

// TestEmptyIsHeld: a file without bytes is a body like any other.
func TestEmptyIsHeld(t *testing.T) {
	t.Parallel()
	k, _ := newHolding(t, "a")
	r := k.replace(k.held.files[0], "")
	k.wantBodies("before", 1, 0)
	k.wantContent("before", r, "")
	k.move()
	k.wantFile("after", r, true)
	k.wantContent("after", r, "")
}

// TestHeldIsReplaced in each combination of small and large.
func TestHeldIsReplaced(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 11)
	k, _ := newHolding(t, "small", long, "moved")
	small, large := k.held.files[0], k.held.files[1]
	small = k.replace(small, "other")
	large = k.replace(large, "less")
	k.wantBodies("both small", 3, 5+4+5)
	k.wantContent("small by small", small, "other")
	k.wantContent("large by small", large, "less")
	k.sound()
	small = k.replace(small, long+long)
	k.wantBodies("one small", 2, 4+5)
	k.wantContent("small by large", small, long+long)
	k.move()
	large = k.replace(large, "again")
	k.wantBodies("what was moved by small", 1, 5)
	k.wantContent("what was moved by small", large, "again")
	k.sound()
	k.move()
	k.wantContent("moved twice", large, "again")
}

// TestHeldIsDeleted, restored, edited and purged like any other.
func TestHeldIsDeleted(t *testing.T) {
	t.Parallel()
	k, _ := newHolding(t, "gone", "back", "edited")
	k.remove(k.held.files[0])
	back := k.remove(k.held.files[1])
	back, err := k.svc.RestoreResource(t.Context(), k.admin, back.ID.String(), always)
	k.ok(err)
	_, err = k.svc.EditResource(t.Context(), k.admin, k.held.files[2].ID.String(), edit("new"))
	k.ok(err)
	k.wantBodies("before the purge", 3, 4+4+6)
	k.wantContent("restored", back, "back")
	k.sound()
	dry := k.purge(repository.PurgeOptions{DryRun: true})
	done := k.purge(repository.PurgeOptions{})
	if want := (repository.PurgeResult{Resources: 1, ResourceBytes: 4}); dry != want || done != want {
		t.Errorf("dry %+v, done %+v, want %+v", dry, done, want)
	}
	k.wantBodies("after the purge", 2, 4+6)
	if r := k.get(k.held.files[0].ID); r.Body != metadata.Purged {
		t.Errorf("body %d", r.Body)
	}
	k.sound()
	k.move()
	k.wantFile("purged", k.held.files[0], false)
	k.wantContent("moved", back, "back")
}

// TestHeldBytes: what a purge or a large file has taken away, or what never came to be committed, does not stay in the way of
// later uploads.
func TestHeldBytes(t *testing.T) {
	t.Parallel()
	k, _ := newHolding(t, "purged", "replaced")
	want := func(when string, bytes int64) {
		t.Helper()
		if got := k.svc.HeldBytes(); got != bytes {
			t.Errorf("%s: %d bytes, want %d", when, got, bytes)
		}
	}
	want("before", 6+8)
	k.remove(k.held.files[0])
	k.purge(repository.PurgeOptions{})
	k.replace(k.held.files[1], strings.Repeat("l", 11))
	k.wantBodies("when both are gone", 0, 0)
	k.move()
	want("when both are gone", 0)
}

func (k *kept) purge(o repository.PurgeOptions) repository.PurgeResult {
	k.t.Helper()
	o.OlderThan = -time.Hour
	result, err := k.upkeep.Purge(k.t.Context(), o)
	k.ok(err)
	return result
}

// TestMoveBesideChanges replaces, deletes and purges resources after the mover has read their bodies, and before it commits.
func TestMoveBesideChanges(t *testing.T) {
	t.Parallel()
	k, files := newHolding(t, "replaced", "deleted", "purged", "stays")
	files.before = func() error {
		for _, r := range k.held.files {
			if now := k.get(r.ID); now.Body != metadata.Held {
				t.Errorf("before there is a file, the body of %q is %d", r.Name, now.Body)
			}
		}
		k.replace(k.held.files[0], "new")
		k.remove(k.held.files[2])
		k.purge(repository.PurgeOptions{})
		k.remove(k.held.files[1])
		files.before = nil
		return nil
	}
	k.move()
	k.sound()
	k.wantContent("replaced", k.held.files[0], "new")
	k.wantContent("stays", k.held.files[3], "stays")
	for i, want := range []metadata.Body{metadata.Held, metadata.Filed, metadata.Purged, metadata.Filed} {
		if got := k.get(k.held.files[i].ID); got.Body != want && !(i == 0 && got.Body == metadata.Filed) {
			t.Errorf("%q: body %d, want %d", k.held.files[i].Name, got.Body, want)
		}
	}
	// What the move has placed in vain is an orphan, and goes with the next purge.
	if result := k.purge(repository.PurgeOptions{DryRun: true}); result.Orphans != 2 || result.Resources != 1 {
		t.Errorf("the next purge would find %+v", result)
	}
}

// TestMoveHoldsBackPurge: while a batch is under way its digests are pinned, so the purge leaves alone what has no row yet.
func TestMoveHoldsBackPurge(t *testing.T) {
	t.Parallel()
	k, files := newHolding(t, "a", "a")
	store := files.Store
	files.Store = placing{store, func() {
		if _, err := os.Lstat(k.path(k.held.files[0].Digest)); err != nil {
			t.Error(err)
		}
		if result := k.purge(repository.PurgeOptions{}); result != (repository.PurgeResult{}) {
			t.Errorf("purged %+v", result)
		}
	}}
	k.move()
	files.Store = store
	k.wantContent("after", k.held.files[0], "a")
	k.wantContent("after", k.held.files[1], "a")
}

// placing does something after PlaceAll.
type placing struct {
	blobs.Store
	after func()
}

func (p placing) PlaceAll(bodies iter.Seq[[]byte]) error {
	defer p.after()
	return p.Store.PlaceAll(bodies)
}

// TestMoveFails: what could not be moved stays as it was, and is moved the next time.
func TestMoveFails(t *testing.T) {
	t.Parallel()
	k, files := newHolding(t, "a", "b")
	files.before = func() error { return blobs.ErrNoSpace }
	k.refused(k.svc.MoveHeld(t.Context()), errs.CodeNoSpace)
	k.wantBodies("after a full disk", 2, 2)
	k.wantContent("after a full disk", k.held.files[0], "a")
	k.sound()
	files.before = nil
	k.move()
	k.wantBodies("after the move", 0, 0)
	k.wantContent("after the move", k.held.files[0], "a")
}

// TestMoveAround: a body of which no file can be made, because of its folder for instance, does not keep the others.
func TestMoveAround(t *testing.T) {
	t.Parallel()
	k, files := newHolding(t, "a", "b", "c", "d", "e", "f")
	broken := k.held.files[2]
	folder := filepath.Dir(k.path(broken.Digest))
	k.ok(os.WriteFile(folder, nil, 0o600)) // none has been needed yet
	calls := 0
	files.before = func() error { calls++; return nil }
	for n, most := range []int{7, 1} {
		calls = 0
		k.refused(k.svc.MoveHeld(t.Context()), errs.CodeInternal)
		k.wantBodies("while a folder is broken", 1, 1)
		if calls > most {
			t.Errorf("move %d took %d attempts", n, calls)
		}
	}
	for _, r := range k.held.files {
		k.wantFile("while a folder is broken", r, r.ID != broken.ID)
		k.wantContent("while a folder is broken", r, r.Name)
	}
	k.ok(errors.Join(os.Remove(folder), os.Mkdir(folder, 0o700)))
	k.move()
	k.wantBodies("when it is mended", 0, 0)
}

// TestUnsyncedMove: after a sync that failed nothing is written any more.
func TestUnsyncedMove(t *testing.T) {
	t.Parallel()
	k, files := newHolding(t, "a")
	files.before = func() error { return blobs.ErrUnsynced }
	k.refused(k.svc.MoveHeld(t.Context()), errs.CodeReadOnly)
	files.before = nil
	k.refused(k.svc.MoveHeld(t.Context()), errs.CodeReadOnly)
	_, err := k.tryUpload(k.sets[0], "b")
	k.refused(err, errs.CodeReadOnly)
	k.wantBodies("after", 1, 1)
	k.wantContent("after", k.held.files[0], "a")
}

// TestRefusedHeldUpload leaves nothing behind.
func TestRefusedHeldUpload(t *testing.T) {
	t.Parallel()
	k, _ := newHolding(t, "a")
	_, err := k.svc.DeleteSet(t.Context(), k.admin, k.sets[0].ID.String(), always)
	k.ok(err)
	_, err = k.tryUpload(k.sets[0], "b")
	k.refused(err, errs.CodeParentDeleted)
	k.wantBodies("after", 1, 1)
	entries, err := os.ReadDir(k.dir + "/tmp")
	k.ok(err)
	if len(entries) > 0 {
		t.Errorf("in tmp: %v", entries)
	}
}

// TestMoverWaits: nothing is moved while an upload is under way, and everything soon afterwards; also what an earlier run left.
func TestMoverWaits(t *testing.T) {
	t.Parallel()
	k, files := newHolding(t, "left")
	svc := repository.New(k.meta, files, repository.Config{PageSize: 1000, DirectoryPageSize: 1000, HoldUpTo: 10})
	k.svc = svc
	defer svc.Close()
	slow := svc.NewUpload(k.admin)
	body, rest := io.Pipe()
	received := make(chan error, 1)
	go func() { received <- slow.Receive(t.Context(), body) }()
	r := k.upload(k.sets[0], "new")
	time.Sleep(400 * time.Millisecond)
	k.wantFile("while another is under way", r, false)
	_, err := rest.Write([]byte("slow"))
	k.ok(errors.Join(err, rest.Close(), <-received, slow.Discard()))
	deadline := time.Now().Add(20 * time.Second)
	for _, r := range []metadata.Resource{r, k.held.files[0]} {
		for k.get(r.ID).Body != metadata.Filed && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
		k.wantFile("when all is quiet", r, true)
	}
	k.wantBodies("when all is quiet", 0, 0)
}
