package maintenance_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
)

// TestDamageRecordedAndRepaired: a damaged file is refused after the damage is noticed. The next
// upload of the same content repairs it.
func TestDamageRecordedAndRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(k *kept, d blobs.Digest)
		noted  bool   // only a full read detects the damage, which a gateway then reports
		what   string // the damage that is recorded
	}{
		"missing":   {func(k *kept, d blobs.Digest) { k.OK(os.Remove(k.Path(d))) }, false, "missing"},
		"truncated": {func(k *kept, d blobs.Digest) { k.OK(os.Truncate(k.Path(d), 3)) }, false, "3 bytes"},
		"a folder": {func(k *kept, d blobs.Digest) {
			k.OK(errors.Join(os.Remove(k.Path(d)), os.Mkdir(k.Path(d), 0o700)))
		}, false, "regular file"},
		"bit flipped": {(*kept).Flip, true, "has the SHA-256"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKept(t, repository.Config{}, 1)
			r := k.files0()
			content := "file 0 0"
			twin := k.Upload(k.Sets[0], content)
			c.damage(k, r.Digest)
			if c.noted {
				if got, err := k.Content(r.ID); err != nil || got == content {
					t.Fatalf("read %q, %v from a file with a flipped bit", got, err)
				}
				k.Service.Files.NoteDamage(t.Context(), r.Digest, errors.New("other content"))
			}
			_, err := k.Content(r.ID)
			k.Refused(err, errs.CodeDataDamaged)
			_, err = k.Content(twin.ID)
			k.Refused(err, errs.CodeDataDamaged)
			_, _, err = k.Upkeep.OpenBlob(t.Context(), r.Digest.String())
			k.Refused(err, errs.CodeDataDamaged)
			marks := k.Damages()
			if len(marks) != 1 || marks[0].Digest != r.Digest || !strings.Contains(marks[0].What, c.what) || strings.Contains(marks[0].What, k.Dir) {
				t.Errorf("recorded %+v", marks)
			}
			if got := k.Service.Monitor.Condition(t.Context()).Detail.Damaged; got != 1 {
				t.Errorf("%d blobs are recorded as damaged", got)
			}

			k.Upload(k.Sets[0], content)
			for _, id := range []metadata.ID{r.ID, twin.ID} {
				if got, err := k.Content(id); err != nil || got != content {
					t.Errorf("after the same content was uploaded again: %q, %v", got, err)
				}
			}
			if marks := k.Damages(); len(marks) > 0 {
				t.Errorf("still recorded: %+v", marks)
			}
		})
	}
}

// TestUploadRepairsUnnoticedDamage: an upload replaces a damaged file with the same content, even
// if the damage is not recorded. A check of a stopped service does not record it, and a scrub may
// not have found it yet.
func TestUploadRepairsUnnoticedDamage(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 1)
	r := k.files0()
	k.Flip(r.Digest)
	twin := k.Upload(k.Sets[0], "file 0 0")
	for _, id := range []metadata.ID{r.ID, twin.ID} {
		if got, err := k.Content(id); err != nil || got != "file 0 0" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// files0 returns the first resource.
func (k *kept) files0() metadata.Resource { return k.Resources[0] }

// TestNoteDamageVerifiesAgain: NoteDamage reads the file again, because the reported bytes may have
// come from memory or from a file that no longer exists.
func TestNoteDamageVerifiesAgain(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 1)
	k.Service.Files.NoteDamage(t.Context(), k.files0().Digest, errors.New("seen in memory"))
	k.Service.Files.NoteDamage(t.Context(), blobs.Digest{1}, errors.New("of a missing blob"))
	if marks := k.Damages(); len(marks) > 0 {
		t.Errorf("recorded %+v", marks)
	}
}

// TestDamageOfEarlierFileNotRecorded uploads a file again while a client reads the old one. The
// damage of the old file is not recorded.
func TestDamageOfEarlierFileNotRecorded(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 1)
	r := k.files0()
	k.Flip(r.Digest)
	healing := &healing{Folder: k.Blobs, digest: r.Digest}
	svc := repositorytest.NewStill(k.Meta, healing, repository.Config{})
	k.Service.Files.NoteDamage(t.Context(), r.Digest, errors.New("bit flipped"))
	healing.upload = func() {
		up, set := svc.Uploads.NewUpload(k.Admin), k.Sets[0].ID.String()
		k.OK(up.Receive(t.Context(), strings.NewReader("file 0 0")))
		_, err := up.Create(t.Context(), files.UploadFields{SetID: &set, Filename: "file"})
		k.OK(errors.Join(err, up.Discard()))
	}
	svc.Files.NoteDamage(t.Context(), r.Digest, errors.New("bit flipped"))
	if marks := k.Damages(); len(marks) > 0 {
		t.Errorf("recorded %+v", marks)
	}
	if got, err := k.Content(r.ID); err != nil || got != "file 0 0" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestOpenResourceDuringPurge: a file that is replaced, or deleted and purged, between reading the
// record and opening the file is not reported as damaged.
func TestOpenResourceDuringPurge(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	k.KeepLast(1)
	replaced, deleted := k.files0(), k.Resources[1]
	purge := func() {
		if got, err := k.Upkeep.Purge(t.Context(), maintenance.PurgeOptions{Now: later}); err != nil || got.Blobs != 1 {
			t.Errorf("purge: %+v, %v", got, err)
		}
	}
	open := func(r metadata.Resource, meanwhile func()) (string, error) {
		files := &healing{Folder: k.Blobs, digest: r.Digest, before: meanwhile}
		_, f, err := repositorytest.NewStill(k.Meta, files, repository.Config{}).Files.OpenResource(t.Context(), k.Admin, r.ID.String())
		if err != nil {
			return "", err
		}
		content, err := io.ReadAll(f)
		return string(content), errors.Join(err, f.Close())
	}
	got, err := open(replaced, func() {
		k.Replace(replaced, "other")
		purge()
	})
	if err != nil || got != "other" {
		t.Errorf("replaced: %q, %v", got, err)
	}
	_, err = open(deleted, func() {
		k.Delete(deleted)
		purge()
	})
	k.Refused(err, errs.CodeResourceGone)
	if marks := k.Damages(); len(marks) > 0 {
		t.Errorf("recorded %+v", marks)
	}
}

// healing is a store that calls a function before one blob is opened, and an upload that restores a
// blob after it was opened for reading.
type healing struct {
	blobs.Folder
	digest blobs.Digest
	before func()
	upload func()
}

func (h *healing) Open(ctx context.Context, b blobs.Blob) (f io.ReadSeekCloser, err error) {
	if before := h.before; before != nil && b.Digest == h.digest {
		h.before = nil
		before()
	}
	f, err = h.Folder.Open(ctx, b)
	if upload := h.upload; upload != nil && b.Digest == h.digest {
		h.upload = nil
		upload()
	}
	return f, err
}

// TestSoundFileLosesDamage marks a sound file as damaged, as if wrong bytes had been read from
// the store. The first request for it causes the file to be read again and the mark to be removed.
func TestSoundFileLosesDamage(t *testing.T) {
	t.Parallel()
	k := newKept(t, repository.Config{}, 2)
	for _, r := range k.Resources {
		k.OK(k.Meta.Update(t.Context(), func(tx *metadata.Tx) error {
			return tx.Damages.Put(metadata.Damage{Digest: r.Digest, Found: tx.Stamp(), What: "it has content of another digest"})
		}))
	}
	k.Flip(k.Resources[1].Digest)
	grown := make(chan struct{}, 100)
	svc := repository.New(observed{k.Meta, grown}, k.Blobs, repository.Config{})
	defer svc.Close()
	for _, r := range k.Resources {
		_, _, err := svc.Files.OpenResource(t.Context(), k.Admin, r.ID.String())
		k.Refused(err, errs.CodeDataDamaged)
	}
	for {
		marks := k.Damages()
		if len(marks) == 1 && marks[0].Digest == k.Resources[1].Digest {
			break
		}
		<-grown
	}
	_, file, err := svc.Files.OpenResource(t.Context(), k.Admin, k.Resources[0].ID.String())
	k.OK(err)
	k.OK(file.Close())
}

// observed is a store that reports each change.
type observed struct {
	metadata.Store
	changed chan<- struct{}
}

func (o observed) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	err := o.Store.Update(ctx, fn)
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return err
}
