package repository_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"labshelf/auth"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/repository"
)

// partly is a repository over real files in which files come part by part, with a clock of its own.
type partly struct {
	*kept
	now time.Time
}

func newPartly(t *testing.T) *partly {
	p := &partly{now: time.Now()}
	p.kept = newKept(t, p.config(), 0)
	return p
}

func (p *partly) config() repository.Config {
	return repository.Config{PageSize: 1000, DirectoryPageSize: 1000, UploadAge: time.Hour, Now: func() time.Time { return p.now }}
}

// over is another service of the same repository.
func (p *partly) over(meta metadata.Store, files blobs.Store) *repository.Service {
	return repository.NewHeld(meta, files, p.config())
}

// waiting is a transfer that has come whole, and was refused since its set was deleted just then. The set is there again.
func (p *partly) waiting(content string) metadata.Transfer {
	p.t.Helper()
	ctx, set := p.t.Context(), p.sets[0].ID.String()
	begun := p.begin(p.admin, "file", content, content[:5])
	_, err := p.svc.DeleteSet(ctx, p.admin, set, always)
	p.ok(err)
	_, err = p.add(p.admin, begun, content[5:])
	wantCode(p.t, err, errs.CodeParentDeleted)
	_, err = p.svc.RestoreSet(ctx, p.admin, set, always)
	p.ok(err)
	return p.stored(begun.ID)
}

// begin begins a file, of which something comes.
func (p *partly) begin(by auth.Principal, name, whole, first string) metadata.Transfer {
	p.t.Helper()
	set := p.sets[0].ID.String()
	t, err := p.svc.BeginTransfer(p.t.Context(), by, repository.TransferStart{Fields: repository.UploadFields{SetID: &set, Name: &name}, Length: int64(len(whole))})
	p.ok(err)
	t, err = p.add(by, t, first)
	p.ok(err)
	return t
}

func (p *partly) add(by auth.Principal, t metadata.Transfer, more string) (metadata.Transfer, error) {
	return p.svc.ContinueTransfer(p.t.Context(), by, t.ID.String(), repository.Piece{
		Offset: t.Mark.Size, Length: -1, Body: strings.NewReader(more), Stop: func() {},
	})
}

// parts are the names in the folder of files that come in parts.
func (p *partly) parts() (names []string) {
	p.t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.dir, "parts"))
	p.ok(err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSweep: what has expired goes, with its file; so does a file without a row. Nothing else does.
func TestSweep(t *testing.T) {
	t.Parallel()
	p := newPartly(t)
	old := p.begin(p.admin, "old", "0123456789", "01234")
	done := p.begin(p.admin, "done", "0123", "0123")
	p.now = p.now.Add(59 * time.Minute)
	young := p.begin(p.admin, "young", "abcdefghij", "abcde")
	stray := metadata.NewID(1).String()
	for _, name := range []string{stray, "notes.txt"} {
		p.ok(os.WriteFile(filepath.Join(p.dir, "parts", name), []byte("x"), 0o600))
	}
	p.ok(p.svc.Sweep(t.Context()))
	want := []string{old.ID.String(), young.ID.String(), "notes.txt"}
	slices.Sort(want)
	if got := p.parts(); !slices.Equal(got, want) {
		t.Errorf("before anything has expired: %q, want %q", got, want)
	}
	p.now = p.now.Add(2 * time.Minute)
	p.ok(p.svc.Sweep(t.Context()))
	want = []string{young.ID.String(), "notes.txt"}
	slices.Sort(want)
	if got := p.parts(); !slices.Equal(got, want) {
		t.Errorf("after: %q, want %q", got, want)
	}
	for _, gone := range []metadata.Transfer{old, done} {
		_, err := p.svc.GetTransfer(t.Context(), p.admin, gone.ID.String())
		wantCode(t, err, errs.CodeUploadNotFound)
	}
	if got, err := p.content(done.Made); err != nil || got != "0123" {
		t.Errorf("the resource that was made has %q, %v", got, err)
	}
	young, err := p.add(p.admin, young, "fghij")
	if err != nil || !young.Done() {
		t.Errorf("the young one: %+v, %v", young, err)
	}
	p.sound()
}

func wantCode(t *testing.T, err error, want errs.Code) {
	t.Helper()
	var known *errs.Error
	if !errors.As(err, &known) || known.Code != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestPurgeSparesWhatWaits: where the record of a file could not be written after the file was put in its place, the transfer still
// needs it, and no purge takes it away.
func TestPurgeSparesWhatWaits(t *testing.T) {
	t.Parallel()
	p := newPartly(t)
	ctx := t.Context()
	user, err := p.svc.CreateUser(ctx, p.admin, repository.Fields{"username": "editor"})
	p.ok(err)
	role := repository.Fields{"userId": user.ID.String(), "dataspaceId": p.space.ID.String(), "role": "editor"}
	grant, _, err := p.svc.Grant(ctx, p.admin, role)
	p.ok(err)
	_, key, err := p.svc.CreateKey(ctx, p.admin, user.ID.String(), repository.Fields{"label": "key"})
	p.ok(err)
	editor, err := p.svc.Authenticate(ctx, key)
	p.ok(err)
	waiting := p.begin(editor, "waiting", "0123456789", "01234")
	_, err = p.svc.Revoke(ctx, p.admin, grant.ID.String(), always)
	p.ok(err)
	_, err = p.add(editor, waiting, "56789")
	wantCode(t, err, errs.CodeForbidden)
	waiting = p.stored(waiting.ID)
	if !waiting.Waits() || waiting.Refusal.Code != errs.CodeForbidden {
		t.Errorf("it is %+v", waiting)
	}
	whole, err := p.files.WholePart(waiting.ID.String(), waiting.Mark)
	p.ok(err)
	p.ok(whole.Place()) // as far as it came before the service ended
	for _, dry := range []bool{true, false} {
		if got := p.purge(repository.PurgeOptions{DryRun: dry}); got != (repository.PurgeResult{}) {
			t.Errorf("a purge (dry: %t) takes %+v", dry, got)
		}
	}
	_, err = p.svc.GetTransfer(ctx, editor, waiting.ID.String())
	wantCode(t, err, errs.CodeForbidden)
	_, _, err = p.svc.Grant(ctx, p.admin, role)
	p.ok(err)
	waiting, err = p.add(editor, waiting, "")
	p.ok(err)
	if got, err := p.content(waiting.Made); err != nil || got != "0123456789" {
		t.Errorf("the resource has %q, %v", got, err)
	}
	given := p.begin(editor, "given up", "abcdefghij", "abcdefghi")
	whole, err = p.files.WholePart(given.ID.String(), given.Mark)
	p.ok(err)
	p.ok(whole.Place())
	p.ok(p.svc.EndTransfer(ctx, editor, given.ID.String()))
	if got := p.purge(repository.PurgeOptions{}); got.Orphans != 1 {
		t.Errorf("a purge takes %+v", got)
	}
	p.sound()
}

func (p *partly) stored(id metadata.ID) (row metadata.Transfer) {
	p.t.Helper()
	p.ok(p.meta.View(p.t.Context(), func(tx *metadata.Tx) (err error) {
		row, err = tx.Transfers.Get(id)
		return err
	}))
	return row
}

// TestFinishedOnce: a service that ended after all had come, and before anything was made of it, makes it when it is asked; whoever
// asks once more gets the same.
func TestFinishedOnce(t *testing.T) {
	t.Parallel()
	p := newPartly(t)
	begun := p.begin(p.admin, "late", "0123456789", "01234")
	mark, err := p.files.AddPart(t.Context(), begun.ID.String(), begun.Mark, strings.NewReader("56789"), 5)
	p.ok(err)
	begun.Mark = mark
	begun.Digest, err = mark.Digest()
	p.ok(err)
	p.ok(p.meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Transfers.Put(begun) }))
	var made metadata.ID
	for range 3 {
		asked, err := p.svc.GetTransfer(t.Context(), p.admin, begun.ID.String())
		p.ok(err)
		if !asked.Done() || made != (metadata.ID{}) && asked.Made != made {
			t.Errorf("it is %+v", asked)
		}
		made = asked.Made
	}
	if got, err := p.content(made); err != nil || got != "0123456789" {
		t.Errorf("the resource has %q, %v", got, err)
	}
	p.sound()
}

// TestLostParts: a transfer whose file is gone, as after a backup was restored, begins anew.
func TestLostParts(t *testing.T) {
	t.Parallel()
	p := newPartly(t)
	begun := p.begin(p.admin, "lost", "0123456789", "01234")
	p.ok(p.files.DropPart(begun.ID.String()))
	_, err := p.add(p.admin, begun, "56789")
	wantCode(t, err, errs.CodeOffset)
	asked, err := p.svc.GetTransfer(t.Context(), p.admin, begun.ID.String())
	if err != nil || asked.Mark != (blobs.Mark{}) {
		t.Errorf("it is at %d, %v", asked.Mark.Size, err)
	}
	asked, err = p.add(p.admin, asked, "0123456789")
	if err != nil || !asked.Done() {
		t.Errorf("%+v, %v", asked, err)
	}
	p.sound()
}

// TestNoPartAfterAFailedSync: where nothing may be written any more, nothing of a file is taken, and its sync is not tried again.
func TestNoPartAfterAFailedSync(t *testing.T) {
	t.Parallel()
	p := newPartly(t)
	begun := p.begin(p.admin, "file", "0123", "01")
	faulty := &syncless{Store: p.files}
	svc := p.over(p.meta, faulty)
	for _, want := range []error{blobs.ErrUnsynced, metadata.ErrReadOnly} {
		_, err := svc.ContinueTransfer(t.Context(), p.admin, begun.ID.String(), repository.Piece{Offset: 2, Length: -1, Body: strings.NewReader("2"), Stop: func() {}})
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if faulty.adds != 1 {
		t.Errorf("%d tries", faulty.adds)
	}
}

// syncless is a blob store on a disk that fails to sync.
type syncless struct {
	blobs.Store
	adds int
}

func (f *syncless) AddPart(_ context.Context, _ string, mark blobs.Mark, _ io.Reader, _ int64) (blobs.Mark, error) {
	f.adds++
	return mark, blobs.ErrUnsynced
}

// TestDamagedInPlace: what lies in the place of a file that has come whole may be another's, and is not taken for the file without a
// look at it. Parts are gone where a backup was restored.
func TestDamagedInPlace(t *testing.T) {
	t.Parallel()
	for _, damaged := range []bool{false, true} {
		p := newPartly(t)
		const content = "0123456789"
		begun := p.waiting(content)
		p.ok(p.files.DropPart(begun.ID.String()))
		twin := p.upload(p.sets[0], content)
		if damaged {
			p.flip(twin.Digest)
		}
		begun, err := p.add(p.admin, begun, "")
		if err != nil || begun.Done() == damaged {
			t.Errorf("damaged: %t: it is at %d, and done: %t, %v", damaged, begun.Mark.Size, begun.Done(), err)
		}
		if damaged {
			begun, err = p.add(p.admin, begun, content)
			p.ok(err)
		}
		if got, err := p.content(begun.Made); err != nil || got != content {
			t.Errorf("damaged: %t: the resource has %q, %v", damaged, got, err)
		}
		p.sound()
	}
}

// TestNothingLeftOfAPiece: a piece that does not count takes no room, be it refused or too much for the disk.
func TestNothingLeftOfAPiece(t *testing.T) {
	t.Parallel()
	wrong, full := errors.New("another checksum"), &fs.PathError{Op: "write", Err: sysNoSpace}
	for name, tc := range map[string]struct {
		body   io.Reader
		verify func() error
		fault  error
		want   error
	}{
		"refused":           {strings.NewReader("cde"), func() error { return wrong }, nil, wrong},
		"cut, and to check": {io.MultiReader(strings.NewReader("cde"), iotest.ErrReader(io.ErrUnexpectedEOF)), func() error { return nil }, nil, io.ErrUnexpectedEOF},
		"no room":           {strings.NewReader("cde"), nil, full, blobs.ErrNoSpace},
	} {
		p := newPartly(t)
		disk := blobstest.NewFaultFS(unsynced{})
		files, err := blobs.OpenDir(p.dir, disk)
		p.ok(err)
		svc := p.over(p.meta, files)
		begun := p.begin(p.admin, "file", "abcdefghij", "ab")
		if tc.fault != nil {
			disk.Arm(blobstest.Fault{Op: blobstest.Write, N: 1, Err: tc.fault})
		}
		_, err = svc.ContinueTransfer(t.Context(), p.admin, begun.ID.String(), repository.Piece{Offset: 2, Length: -1, Body: tc.body, Stop: func() {}, Verify: tc.verify})
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadFile(filepath.Join(p.dir, "parts", begun.ID.String())); string(left) != "ab" {
			t.Errorf("%s: %q is left, %v", name, left, err)
		}
		begun, err = p.add(p.admin, begun, "cdefghij")
		p.ok(err)
		if got, err := p.content(begun.Made); err != nil || got != "abcdefghij" {
			t.Errorf("%s: the resource has %q, %v", name, got, err)
		}
	}
}
