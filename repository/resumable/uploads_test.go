package resumable_test

import (
	"context"
	"crypto/sha256"
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
	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/blobs/blobstest"
	"labshelf/blobs/directory"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
	"labshelf/repository/resumable"
)

// world is a repository over real files that are uploaded in chunks, with a separate clock.
type world struct {
	*repositorytest.Disk
	now time.Time
}

func newWorld(t *testing.T) *world {
	p := &world{now: time.Now()}
	p.Disk = repositorytest.NewDisk(t, p.config(), 0)
	return p
}

func (p *world) config() repository.Config {
	return repository.Config{PageSize: 1000, DirectoryPageSize: 1000, UploadAge: time.Hour, Now: func() time.Time { return p.now }}
}

// over returns another service of the same repository.
func (p *world) over(meta metadata.Store, files blobs.Folder) *repository.Service {
	return repositorytest.NewStill(meta, files, p.config())
}

// waiting returns a complete upload that was refused because its set had just been deleted. The set
// has been restored.
func (p *world) waiting(content string) metadata.ResumableUpload {
	p.T.Helper()
	ctx, set := p.T.Context(), p.Sets[0].ID.String()
	begun := p.begin(p.Admin, "file", content, content[:5])
	_, err := p.Service.Sets.Delete(ctx, p.Admin, set, repositorytest.Always)
	p.OK(err)
	_, err = p.add(p.Admin, begun, content[5:])
	repositorytest.WantCode(p.T, err, errs.CodeParentDeleted)
	_, err = p.Service.Sets.Restore(ctx, p.Admin, set, repositorytest.Always)
	p.OK(err)
	return p.stored(begun.ID)
}

// begin begins a file, and sends its first bytes.
func (p *world) begin(by auth.Principal, name, whole, first string) metadata.ResumableUpload {
	p.T.Helper()
	set := p.Sets[0].ID.String()
	t, err := p.Service.Uploads.Create(p.T.Context(), by, files.UploadStart{Fields: files.UploadFields{SetID: &set, Name: &name}, Length: int64(len(whole))})
	p.OK(err)
	t, err = p.add(by, t, first)
	p.OK(err)
	return t
}

func (p *world) add(by auth.Principal, t metadata.ResumableUpload, more string) (metadata.ResumableUpload, error) {
	return p.Service.Uploads.Chunks.Append(p.T.Context(), by, t.ID.String(), resumable.Chunk{
		Offset: t.Checkpoint.Size, Length: -1, Body: strings.NewReader(more), Stop: func() {},
	})
}

// parts returns the names in the folder of partial files.
func (p *world) parts() (names []string) {
	p.T.Helper()
	entries, err := os.ReadDir(filepath.Join(p.Dir, "parts"))
	p.OK(err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestExpiry: expired uploads and their files are removed, and so are partial files without a row.
// Nothing else is removed.
func TestExpiry(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	old := p.begin(p.Admin, "old", "0123456789", "01234")
	done := p.begin(p.Admin, "done", "0123", "0123")
	p.now = p.now.Add(59 * time.Minute)
	young := p.begin(p.Admin, "young", "abcdefghij", "abcde")
	stray := metadata.NewID(1).String()
	for _, name := range []string{stray, "notes.txt"} {
		p.OK(os.WriteFile(filepath.Join(p.Dir, "parts", name), []byte("x"), 0o600))
	}
	p.OK(p.Service.Uploads.Chunks.Expire(t.Context()))
	want := []string{old.ID.String(), young.ID.String(), "notes.txt"}
	slices.Sort(want)
	if got := p.parts(); !slices.Equal(got, want) {
		t.Errorf("before the first expiry: %q, want %q", got, want)
	}
	p.now = p.now.Add(2 * time.Minute)
	p.OK(p.Service.Uploads.Chunks.Expire(t.Context()))
	want = []string{young.ID.String(), "notes.txt"}
	slices.Sort(want)
	if got := p.parts(); !slices.Equal(got, want) {
		t.Errorf("after: %q, want %q", got, want)
	}
	for _, gone := range []metadata.ResumableUpload{old, done} {
		_, err := p.Service.Uploads.Chunks.Get(t.Context(), p.Admin, gone.ID.String())
		repositorytest.WantCode(t, err, errs.CodeUploadNotFound)
	}
	if got, err := p.Content(done.Made); err != nil || got != "0123" {
		t.Errorf("the created resource has %q, %v", got, err)
	}
	young, err := p.add(p.Admin, young, "fghij")
	if err != nil || !young.Done() {
		t.Errorf("the young one: %+v, %v", young, err)
	}
	p.Sound()
}

// TestPurgeKeepsPendingUpload: if the record of a committed file could not be written, the upload
// still needs the file, and a purge keeps it.
func TestPurgeKeepsPendingUpload(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	ctx := t.Context()
	user, err := p.Service.Users.Create(ctx, p.Admin, containers.NewUser{Username: "editor"})
	p.OK(err)
	role := containers.NewPrivilege{UserID: user.ID.String(), DataspaceID: p.Space.ID.String(), Role: auth.Editor}
	grant, _, err := p.Service.Users.Grant(ctx, p.Admin, role)
	p.OK(err)
	_, key, err := p.Service.Users.CreateKey(ctx, p.Admin, user.ID.String(), containers.KeyFields{Label: new("key")})
	p.OK(err)
	editor, err := p.Service.Credentials.Authenticate(ctx, key, auth.Origin{})
	p.OK(err)
	waiting := p.begin(editor, "waiting", "0123456789", "01234")
	_, err = p.Service.Users.Revoke(ctx, p.Admin, grant.ID.String(), repositorytest.Always)
	p.OK(err)
	_, err = p.add(editor, waiting, "56789")
	repositorytest.WantCode(t, err, errs.CodeForbidden)
	waiting = p.stored(waiting.ID)
	if !waiting.Pending() || waiting.Refusal.Code != errs.CodeForbidden {
		t.Errorf("it is %+v", waiting)
	}
	whole, err := p.Blobs.StagePartial(t.Context(), blobs.Partial{Name: waiting.ID.String(), At: waiting.Checkpoint})
	p.OK(err)
	_, err = whole.Commit(t.Context())
	p.OK(err) // received before the service ended
	for _, dry := range []bool{true, false} {
		if got := p.Purge(maintenance.PurgeOptions{DryRun: dry}); got != (maintenance.PurgeResult{}) {
			t.Errorf("a purge (dry: %t) removes %+v", dry, got)
		}
	}
	_, err = p.Service.Uploads.Chunks.Get(ctx, editor, waiting.ID.String())
	repositorytest.WantCode(t, err, errs.CodeForbidden)
	_, _, err = p.Service.Users.Grant(ctx, p.Admin, role)
	p.OK(err)
	waiting, err = p.add(editor, waiting, "")
	p.OK(err)
	if got, err := p.Content(waiting.Made); err != nil || got != "0123456789" {
		t.Errorf("the resource has %q, %v", got, err)
	}
	given := p.begin(editor, "given up", "abcdefghij", "abcdefghi")
	whole, err = p.Blobs.StagePartial(t.Context(), blobs.Partial{Name: given.ID.String(), At: given.Checkpoint})
	p.OK(err)
	_, err = whole.Commit(t.Context())
	p.OK(err)
	p.OK(p.Service.Uploads.Chunks.Terminate(ctx, editor, given.ID.String()))
	if got := p.Purge(maintenance.PurgeOptions{}); got.Orphans != 1 {
		t.Errorf("a purge removes %+v", got)
	}
	p.Sound()
}

func (p *world) stored(id metadata.ID) (row metadata.ResumableUpload) {
	p.T.Helper()
	p.OK(p.Meta.View(p.T.Context(), func(tx *metadata.Tx) (err error) {
		row, err = tx.Uploads.Get(id)
		return err
	}))
	return row
}

// TestLongChunkHasCheckpoints: if a chunk is refused at its end or interrupted, the bytes before
// the last checkpoint are kept, and so is the digest announced with the chunk.
func TestLongChunkHasCheckpoints(t *testing.T) {
	t.Parallel()
	for what, body := range map[string]io.Reader{
		"longer than announced": strings.NewReader("0123456789x"),
		"broken":                io.MultiReader(strings.NewReader("01234567"), iotest.ErrReader(io.ErrUnexpectedEOF)),
	} {
		p := newWorld(t)
		p.Service.Uploads.Chunks.CheckpointEvery(4)
		begun, digest := p.begin(p.Admin, "long", "0123456789", ""), blobs.Digest(sha256.Sum256([]byte("0123456789")))
		_, err := p.Service.Uploads.Chunks.Append(t.Context(), p.Admin, begun.ID.String(), resumable.Chunk{Length: -1, Expected: digest, Body: body, Stop: func() {}})
		if err == nil {
			t.Errorf("%s: the chunk is accepted", what)
		}
		begun = p.stored(begun.ID)
		if begun.Checkpoint.Size != 8 || begun.Expected != digest {
			t.Errorf("%s: %d bytes are kept, and the announced digest is %s", what, begun.Checkpoint.Size, begun.Expected)
		}
		begun, err = p.add(p.Admin, begun, "89")
		p.OK(err)
		if got, err := p.Content(begun.Made); err != nil || got != "0123456789" {
			t.Errorf("%s: the resource has %q, %v", what, got, err)
		}
	}
}

// TestCompletedOnce: if the service stops after the last byte but before the resource is created,
// the next request creates it. A repeated request returns the same resource.
func TestCompletedOnce(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	begun := p.begin(p.Admin, "late", "0123456789", "01234")
	mark, err := p.Blobs.AppendPartial(t.Context(), blobs.Partial{Name: begun.ID.String(), Length: begun.Length, At: begun.Checkpoint}, strings.NewReader("56789"), 5)
	p.OK(err)
	begun.Checkpoint = mark
	begun.Digest, err = mark.Digest()
	p.OK(err)
	p.OK(p.Meta.Update(t.Context(), func(tx *metadata.Tx) error { return tx.Uploads.Put(begun) }))
	var made metadata.ID
	for range 3 {
		asked, err := p.Service.Uploads.Chunks.Get(t.Context(), p.Admin, begun.ID.String())
		p.OK(err)
		if !asked.Done() || made != (metadata.ID{}) && asked.Made != made {
			t.Errorf("it is %+v", asked)
		}
		made = asked.Made
	}
	if got, err := p.Content(made); err != nil || got != "0123456789" {
		t.Errorf("the resource has %q, %v", got, err)
	}
	p.Sound()
}

// TestUploadRestartsWithoutFile: an upload whose file is missing, as after a backup was restored,
// restarts from 0.
func TestUploadRestartsWithoutFile(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	begun := p.begin(p.Admin, "lost", "0123456789", "01234")
	p.OK(p.Blobs.RemovePartial(begun.ID.String()))
	_, err := p.add(p.Admin, begun, "56789")
	repositorytest.WantCode(t, err, errs.CodeOffset)
	asked, err := p.Service.Uploads.Chunks.Get(t.Context(), p.Admin, begun.ID.String())
	if err != nil || asked.Checkpoint != (blobs.Checkpoint{}) {
		t.Errorf("it is at %d, %v", asked.Checkpoint.Size, err)
	}
	asked, err = p.add(p.Admin, asked, "0123456789")
	if err != nil || !asked.Done() {
		t.Errorf("%+v, %v", asked, err)
	}
	p.Sound()
}

// TestNoChunkAfterFailedSync: after a failed sync, no data is accepted and the sync is not tried
// again.
func TestNoChunkAfterFailedSync(t *testing.T) {
	t.Parallel()
	p := newWorld(t)
	begun := p.begin(p.Admin, "file", "0123", "01")
	faulty := &failingSync{Folder: p.Blobs}
	svc := p.over(p.Meta, faulty)
	for _, want := range []error{blobs.ErrUnsynced, metadata.ErrReadOnly} {
		_, err := svc.Uploads.Chunks.Append(t.Context(), p.Admin, begun.ID.String(), resumable.Chunk{Offset: 2, Length: -1, Body: strings.NewReader("2"), Stop: func() {}})
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if faulty.adds != 1 {
		t.Errorf("%d tries", faulty.adds)
	}
}

// failingSync is a blob store on a disk that fails to sync.
type failingSync struct {
	blobs.Folder
	adds int
}

func (f *failingSync) AppendPartial(_ context.Context, p blobs.Partial, _ io.Reader, _ int64) (blobs.Checkpoint, error) {
	f.adds++
	return p.At, blobs.ErrUnsynced
}

// TestDamagedDuplicateIsNotUsed: a file in the location of a complete upload may belong to another
// upload, and is verified before it is used. Partial files are missing after a backup is restored.
func TestDamagedDuplicateIsNotUsed(t *testing.T) {
	t.Parallel()
	for _, damaged := range []bool{false, true} {
		p := newWorld(t)
		const content = "0123456789"
		begun := p.waiting(content)
		p.OK(p.Blobs.RemovePartial(begun.ID.String()))
		twin := p.Upload(p.Sets[0], content)
		if damaged {
			p.Flip(twin.Digest)
		}
		begun, err := p.add(p.Admin, begun, "")
		if err != nil || begun.Done() == damaged {
			t.Errorf("damaged: %t: the offset is %d, done: %t, %v", damaged, begun.Checkpoint.Size, begun.Done(), err)
		}
		if damaged {
			begun, err = p.add(p.Admin, begun, content)
			p.OK(err)
		}
		if got, err := p.Content(begun.Made); err != nil || got != content {
			t.Errorf("damaged: %t: the resource has %q, %v", damaged, got, err)
		}
		p.Sound()
	}
}

// TestRefusedChunkLeavesNothing: a chunk that is refused, or too large for the disk, leaves no
// data.
func TestRefusedChunkLeavesNothing(t *testing.T) {
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
		p := newWorld(t)
		disk := blobstest.NewFaultFS(repositorytest.Unsynced{})
		files, err := directory.Open(p.Dir, disk)
		p.OK(err)
		svc := p.over(p.Meta, files)
		begun := p.begin(p.Admin, "file", "abcdefghij", "ab")
		if tc.fault != nil {
			disk.Arm(blobstest.Fault{Op: blobstest.Write, N: 1, Err: tc.fault})
		}
		_, err = svc.Uploads.Chunks.Append(t.Context(), p.Admin, begun.ID.String(), resumable.Chunk{Offset: 2, Length: -1, Body: tc.body, Stop: func() {}, Verify: tc.verify})
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := os.ReadFile(filepath.Join(p.Dir, "parts", begun.ID.String())); string(left) != "ab" {
			t.Errorf("%s: %q remains, %v", name, left, err)
		}
		begun, err = p.add(p.Admin, begun, "cdefghij")
		p.OK(err)
		if got, err := p.Content(begun.Made); err != nil || got != "abcdefghij" {
			t.Errorf("%s: the resource has %q, %v", name, got, err)
		}
	}
}
