package repository_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/files"
)

// TestInlineBodiesStay: if files are objects, bodies of up to 16 KiB are never flushed. Longer
// bodies are stored as objects immediately.
func TestInlineBodiesStay(t *testing.T) {
	t.Parallel()
	meta, err := bolt.Open(filepath.Join(t.TempDir(), "meta.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store := blobstest.NewObjects(func(context.Context) (time.Time, error) { return time.Now(), nil })
	s := repository.New(meta, store, repository.Config{HoldUpTo: 128 << 10, PageSize: 10, DirectoryPageSize: 10})
	key, err := s.Users.Bootstrap(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := s.Credentials.Authenticate(t.Context(), key, auth.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Dataspaces.Create(t.Context(), admin, containers.NewDataspace{Name: "physics"})
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.Sets.Create(t.Context(), admin, containers.NewSet{Name: "runs", DataspaceID: d.ID.String()})
	if err != nil {
		t.Fatal(err)
	}
	into := set.ID.String()
	for bytes, want := range map[int]metadata.BodyLocation{1: metadata.Inline, 16 << 10: metadata.Inline, 16<<10 + 1: metadata.InBlob} {
		u := s.Uploads.NewUpload(admin)
		err := u.Receive(t.Context(), strings.NewReader(strings.Repeat("x", bytes)))
		var r metadata.Resource
		if err == nil {
			r, err = u.Create(t.Context(), files.UploadFields{SetID: &into, Filename: "file"})
		}
		if err != nil || r.Body != want {
			t.Errorf("%d bytes: body %v, %v; want %v", bytes, r.Body, err, want)
		}
	}
	if err := s.FlushInline(t.Context()); err != nil {
		t.Error(err)
	}
	err = meta.View(t.Context(), func(tx *metadata.Tx) error {
		total, err := tx.InlineBodies.Total()
		if want := (metadata.BodyCount{Bodies: 2, Bytes: 1 + 16<<10}); total != want {
			t.Errorf("inline after a flush: %+v, want %+v", total, want)
		}
		return err
	})
	s.Close()
	if err := errors.Join(err, meta.Close()); err != nil {
		t.Error(err)
	}
}
