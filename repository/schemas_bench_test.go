package repository_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"labshelf/auth"
	"labshelf/blobs/blobstest"
	"labshelf/bolt"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// BenchmarkSchemas measures the cost of schemas in a dataspace without schemas, and in one with 50
// of which one applies and is enforced: a page of 100 resources without metadata, an upload without
// metadata, and a change of a property.
func BenchmarkSchemas(b *testing.B) {
	for _, schemas := range []int{0, 50} {
		c := newCostly(b, schemas)
		for _, what := range []struct {
			name string
			run  func(i int) error
		}{{"page", c.page}, {"edit", c.edit}, {"upload", c.upload}} {
			b.Run(fmt.Sprintf("%s/schemas=%d", what.name, schemas), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := what.run(i); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// costly is a repository with 200 files, on disk.
type costly struct {
	*testing.B
	service *repository.Service
	admin   auth.Principal
	set     metadata.Set
	last    metadata.Resource
	round   int
}

func newCostly(b *testing.B, schemas int) *costly {
	b.Helper()
	meta, err := bolt.Open(filepath.Join(b.TempDir(), "meta.db"), bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	c := &costly{B: b, service: repositorytest.NewStill(meta, blobstest.NewMemory(), repository.Config{PageSize: 100, DirectoryPageSize: 10, HoldUpTo: 8 << 10})}
	b.Cleanup(func() {
		if err := meta.Close(); err != nil {
			b.Error(err)
		}
	})
	key, err := c.service.Users.Bootstrap(b.Context(), "")
	if err == nil {
		c.admin, err = c.service.Credentials.Authenticate(b.Context(), key, auth.Origin{})
	}
	if err != nil {
		b.Fatal(err)
	}
	space, err := c.service.Dataspaces.Create(b.Context(), c.admin, containers.NewDataspace{Name: "space"})
	for i := 0; i < schemas && err == nil; i++ {
		fields := describe.NewSchema{For: metadata.ForFiles, SchemaFields: describe.SchemaFields{
			Name: new(fmt.Sprint("schema-", i)), Text: needs("n"), Types: []string{fmt.Sprintf("application/x-%d", i)}, Enforce: new(true),
		}}
		if i == schemas-1 {
			fields.Types = nil
		}
		_, err = c.service.Schemas.Create(b.Context(), c.admin, space.ID.String(), fields)
	}
	if err == nil {
		c.set, err = c.service.Sets.Create(b.Context(), c.admin, containers.NewSet{Name: "set", DataspaceID: space.ID.String()})
	}
	for i := 0; i < 200 && err == nil; i++ {
		err = c.upload(i)
	}
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func (c *costly) page(int) error {
	_, err := c.service.Files.List(c.Context(), c.admin, paging.SetResources, core.ListRequest{Container: c.set.ID.String()}, func(*metadata.Resource) {}, nil)
	return err
}

func (c *costly) upload(i int) (err error) {
	up, set, name := c.service.Uploads.NewUpload(c.admin), c.set.ID.String(), fmt.Sprint("file ", i)
	if err := up.Receive(c.Context(), strings.NewReader("content")); err != nil {
		return err
	}
	if c.last, err = up.Create(c.Context(), files.UploadFields{SetID: &set, Name: &name}); err != nil {
		return err
	}
	return up.Discard()
}

func (c *costly) edit(int) error {
	c.round++
	_, err := c.service.Files.Edit(c.Context(), c.admin, c.last.ID.String(), files.Fields{Metadata: descriptive.Patch(fmt.Sprintf(`{"properties":{"n":"%d"}}`, c.round))}, core.Match{})
	return err
}
