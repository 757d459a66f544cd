package repository_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/bolt"
	"labshelf/metadata"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// BenchmarkEditByCSV changes 10,000 files by one CSV file and undoes the edit, once for each
// iteration.
func BenchmarkEditByCSV(b *testing.B) {
	const n = 10_000
	fatal := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	ctx := b.Context()
	meta, err := bolt.Open(filepath.Join(b.TempDir(), "meta.db"), bolt.Options{})
	fatal(err)
	b.Cleanup(func() { fatal(meta.Close()) })
	service := repositorytest.NewStill(meta, blobstest.NewMemory(), repository.Config{HoldUpTo: 100})
	key, err := service.Users.Bootstrap(ctx, "")
	fatal(err)
	admin, err := service.Credentials.Authenticate(ctx, key, auth.Origin{})
	fatal(err)
	space, err := service.Dataspaces.Create(ctx, admin, containers.NewDataspace{Name: "space"})
	fatal(err)
	set, err := service.Sets.Create(ctx, admin, containers.NewSet{Name: "set", DataspaceID: space.ID.String()})
	fatal(err)
	for i := range n {
		upload, id, name := service.Uploads.NewUpload(admin), set.ID.String(), fmt.Sprint("run-", i)
		said := fmt.Sprintf(`{"tags":["raw"],"properties":{"n":%d,"when":"2026-01-02","temperature":{"value":20,"unit":"°C"}}}`, i)
		fatal(upload.Receive(ctx, strings.NewReader(name)))
		_, err := upload.Create(ctx, files.UploadFields{SetID: &id, Name: &name, Metadata: &said})
		fatal(errors.Join(err, upload.Discard()))
	}
	for b.Loop() {
		var file bytes.Buffer
		fatal(service.BulkEdits.ExportMetadata(ctx, admin, set.ID.String(), ',', func(metadata.Set) io.Writer { return &file }))
		done, err := service.BulkEdits.EditByCSV(ctx, admin, set.ID.String(), []byte(strings.ReplaceAll(file.String(), "20 °C", "21 °C")), false)
		fatal(err)
		undone, err := service.BulkEdits.Undo(ctx, admin, done.Edit.ID.String())
		fatal(err)
		if done.Changed != n || undone.Changed != n {
			b.Fatalf("%d of %d changed, %d undone", done.Changed, n, undone.Changed)
		}
	}
}
