package repository_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/formats/descriptive"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/containers"
	"labshelf/repository/core"
	"labshelf/repository/files"
	"labshelf/repository/maintenance"
	"labshelf/repository/repositorytest"
	"labshelf/repository/watch"
	"labshelf/search"
)

// searched is a world with an index.
type searched struct {
	*repositorytest.World
	meta  metadata.Store
	files *blobstest.Memory
	dir   string
}

func newSearched(t *testing.T, counts ...int) *searched {
	t.Helper()
	s := &searched{meta: metadatatest.NewMemory(time.Now), files: blobstest.NewMemory(), dir: t.TempDir()}
	svc := repository.New(s.meta, s.files, repository.Config{IndexDir: s.dir, PageSize: 100, UsersCreateDataspaces: true})
	t.Cleanup(func() { s.Service.Close() })
	s.World = repositorytest.NewWorld(t, svc, counts...)
	return s
}

// reopen closes the repository and opens it again.
func (s *searched) reopen() {
	s.Service.Close()
	s.Service = repository.New(s.meta, s.files, repository.Config{IndexDir: s.dir, PageSize: 100, UsersCreateDataspaces: true})
}

// names returns the names that a caller finds, with this limit per page.
func (s *searched) names(p auth.Principal, limit int, params ...string) (names []string) {
	s.T.Helper()
	s.OK(s.Service.Search.Indexed(s.T.Context()))
	all := map[string][]string{"limit": {fmt.Sprint(limit)}}
	for i := 0; i < len(params); i += 2 {
		all[params[i]] = []string{params[i+1]}
	}
	req := repositorytest.Listed(paging.Search, "", all)
	for {
		found, err := s.Service.Search.Search(s.T.Context(), p, req)
		s.OK(err)
		if len(found.Items) == 0 {
			return names
		}
		for _, h := range found.Items {
			names = append(names, nameOf(h))
		}
		req = core.ListRequest{Token: found.Next}
	}
}

func nameOf(h watch.Hit) string {
	switch h.Kind {
	case search.Dataspace:
		return h.Dataspace.Name
	case search.Set:
		return h.Set.Name
	}
	return h.Resource.Name
}

func (s *searched) want(p auth.Principal, q string, want ...string) {
	s.T.Helper()
	params := []string{"order", "name"}
	if q != "" {
		params = append(params, "q", q)
	}
	if got := s.names(p, 100, params...); strings.Join(got, ", ") != strings.Join(want, ", ") {
		s.T.Errorf("%s finds %q, want %q", q, got, want)
	}
}

func (s *searched) user(name string) auth.Principal {
	s.T.Helper()
	user, err := s.Service.Users.Create(s.T.Context(), s.Admin, containers.NewUser{Username: name})
	s.OK(err)
	_, key, err := s.Service.Users.CreateKey(s.T.Context(), s.Admin, user.ID.String(), containers.KeyFields{})
	s.OK(err)
	p, err := s.Service.Credentials.Authenticate(s.T.Context(), key, auth.Origin{})
	s.OK(err)
	return p
}

// TestSearchFollows: created, edited, described, replaced, deleted and restored objects are found
// in their present state, by names and contents, also after a restart and a rebuild.
func TestSearchFollows(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 2, 1)
	ctx, first := t.Context(), s.Resources[0]
	s.want(s.Admin, "file", "file 0 0", "file 0 1", "file 1 0")
	s.want(s.Admin, "ile -1", "file 0 0")
	s.want(s.Admin, "type:set", "set-0", "set-1")
	s.want(s.Admin, "in:space/set-1 type:file", "file 1 0")
	s.want(s.Admin, "in:nowhere")

	_, err := s.Service.Files.Edit(ctx, s.Admin, first.ID.String(), files.Fields{Description: new("at low temperature"), Metadata: descriptive.Patch(`{"tags":["salt"],"properties":{"width":{"value":0.5,"unit":"mm"}}}`)}, core.Match{})
	s.OK(err)
	s.want(s.Admin, "temper", "file 0 0")
	s.want(s.Admin, "tag:salt -name:1", "file 0 0")
	s.want(s.Admin, "width:500µm", "file 0 0")
	s.want(s.Admin, "width:>1mm")

	_, err = s.Service.Sets.Update(ctx, s.Admin, s.Sets[1].ID.String(), containers.SetFields{Metadata: descriptive.Patch(`{"publicationYear":1987}`)}, core.Match{})
	s.OK(err)
	s.want(s.Admin, "year:1980..1990", "set-1")
	s.want(s.Admin, "type:set -year:1987", "set-0")

	s.want(s.Admin, "set-1 0", "file 1 0")
	s.want(s.Admin, "et-1", "set-1")
	_, err = s.Service.Sets.Update(ctx, s.Admin, s.Sets[1].ID.String(), containers.SetFields{Title: new("Glaciers")}, core.Match{})
	s.OK(err)
	s.want(s.Admin, "glaciers -type:set", "file 1 0")
	_, err = s.Service.Sets.Update(ctx, s.Admin, s.Sets[1].ID.String(), containers.SetFields{Title: new("Ice")}, core.Match{})
	s.OK(err)
	s.want(s.Admin, "glaciers")
	s.want(s.Admin, "ice file", "file 1 0")

	s.OK(s.replace(first, "crystal,phase\nquartz,alpha\n", "text/csv"))
	s.want(s.Admin, "quartz", "file 0 0")
	s.want(s.Admin, "tag:salt quartz", "file 0 0")
	s.reopen()
	s.want(s.Admin, "quartz", "file 0 0")
	s.OK(s.Service.Search.Rebuild(ctx, s.Admin))
	s.want(s.Admin, "quartz width:>0.1mm", "file 0 0")

	_, err = s.Service.Sets.Delete(ctx, s.Admin, s.Sets[0].ID.String(), repositorytest.Always)
	s.OK(err)
	s.want(s.Admin, "file", "file 1 0")
	_, err = s.Service.Sets.Restore(ctx, s.Admin, s.Sets[0].ID.String(), repositorytest.Always)
	s.OK(err)
	s.want(s.Admin, "quartz", "file 0 0")
}

// replace replaces the file of a resource.
func (s *searched) replace(r metadata.Resource, content, contentType string) error {
	up := s.Service.Uploads.NewUpload(s.Admin)
	defer func() { s.OK(up.Discard()) }()
	s.OK(up.Receive(s.T.Context(), strings.NewReader(content)))
	_, err := up.Replace(s.T.Context(), r.ID.String(), files.UploadFields{Name: &r.Name, Description: &r.Description, ContentType: contentType})
	return err
}

// TestSearchKeepsFileText: an entry about the label or the erasure of a version does not remove the
// text of the file from the index.
func TestSearchKeepsFileText(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 1)
	ctx, r := t.Context(), s.Resources[0]
	s.OK(s.replace(r, "quartz\n", "text/plain"))
	s.want(s.Admin, "quartz", "file 0 0")
	_, err := s.Service.Versions.Label(ctx, s.Admin, r.ID.String(), "2", files.VersionFields{Label: new("final")}, repositorytest.Always)
	s.OK(err)
	s.want(s.Admin, "quartz", "file 0 0")
	_, _, err = s.Service.Versions.Erase(ctx, s.Admin, r.ID.String(), "1")
	s.OK(err)
	s.want(s.Admin, "quartz", "file 0 0")
	s.Delete(s.Get(r.ID))
	s.want(s.Admin, "quartz")
}

// TestSearchRemovesErasedWords: after the bytes of a version are erased or purged, no file of the
// index contains any of their words.
func TestSearchRemovesErasedWords(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 2)
	ctx, r, other := t.Context(), s.Resources[0], s.Resources[1]
	holds := func(word string) bool {
		s.OK(s.Service.Search.Indexed(ctx))
		s.reopen() // so that the whole index is in files
		files, err := filepath.Glob(filepath.Join(s.dir, "*"))
		s.OK(err)
		return slices.ContainsFunc(files, func(path string) bool {
			content, err := os.ReadFile(path)
			s.OK(err)
			return bytes.Contains(content, []byte(word))
		})
	}
	s.OK(s.replace(r, "quartz\n", "text/plain"))
	s.OK(s.replace(other, "basalt\n", "text/plain"))
	if !holds("quartz") || !holds("basalt") {
		t.Fatal("the words are in no file")
	}
	s.OK(s.replace(r, "gneiss\n", "text/plain"))
	_, _, err := s.Service.Versions.Erase(ctx, s.Admin, r.ID.String(), "2")
	s.OK(err)
	if holds("quartz") {
		t.Error("the erased words are in the index")
	}
	s.Delete(s.Get(other.ID))
	upkeep, err := s.Service.Monitor.Upkeep(ctx, s.Admin)
	s.OK(err)
	_, err = upkeep.Purge(ctx, maintenance.PurgeOptions{Now: func() time.Time { return time.Now().Add(time.Hour) }})
	s.OK(err)
	if holds("basalt") {
		t.Error("the purged words are in the index")
	}
	s.want(s.Admin, "gneiss", "file 0 0")
}

// TestSearchRebuildsDamagedIndex: an index in which a search finds damage is rebuilt, even if
// nothing changes.
func TestSearchRebuildsDamagedIndex(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 2)
	s.want(s.Admin, "file", "file 0 0", "file 0 1")
	s.Service.Close()
	segments, err := filepath.Glob(filepath.Join(s.dir, "*.segment"))
	s.OK(err)
	if len(segments) == 0 {
		t.Fatal("the index has no file")
	}
	for _, name := range segments {
		data, err := os.ReadFile(name)
		s.OK(err)
		data[40] ^= 1
		s.OK(os.WriteFile(name, data, 0o600))
	}
	s.reopen()
	_, err = s.Service.Search.Search(t.Context(), s.Admin, core.ListRequest{Selection: paging.Selection{Text: "file"}})
	s.Refused(err, errs.CodeUnavailable)
	s.want(s.Admin, "file", "file 0 0", "file 0 1")
}

// TestSearchReportsRebuild: during a rebuild, an incomplete page is never shown as complete.
func TestSearchReportsRebuild(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 50, 50)
	for range 5 {
		s.OK(s.Service.Search.Indexed(t.Context()))
		s.OK(s.Service.Search.Rebuild(t.Context(), s.Admin))
		for found := 0; found < 100; {
			page, err := s.Service.Search.Search(t.Context(), s.Admin, core.ListRequest{Selection: paging.Selection{Text: "file"}})
			s.OK(err)
			if found = len(page.Items); found < 100 && page.Behind == 0 {
				t.Fatalf("%d hits of 100, but not behind", found)
			}
		}
	}
}

// TestSearchRevealsNothing: hits and counts reveal nothing that the caller may not read. A granted
// or revoked role applies immediately.
func TestSearchRevealsNothing(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 3)
	ctx, reader := t.Context(), s.user("reader")
	s.want(reader, "file")
	s.want(reader, "in:space")
	s.want(reader, "")
	role, _, err := s.Service.Users.Grant(ctx, s.Admin, containers.NewPrivilege{UserID: reader.UserID.String(), DataspaceID: s.Space.ID.String(), Role: auth.Member})
	s.OK(err)
	s.want(reader, "file", "file 0 0", "file 0 1", "file 0 2")
	page, err := s.Service.Search.Search(ctx, reader, core.ListRequest{Selection: paging.Selection{Text: "file", Limit: 2, Counts: true}})
	s.OK(err)
	if page.Total != 3 || len(page.Counts.Dataspaces) != 1 || page.Names[s.Space.ID] != "space" {
		t.Errorf("total %d, counts %+v, names %v", page.Total, page.Counts, page.Names)
	}
	_, err = s.Service.Users.Revoke(ctx, s.Admin, role.ID.String(), repositorytest.Always)
	s.OK(err)
	page, err = s.Service.Search.Search(ctx, reader, core.ListRequest{Token: page.Next})
	s.OK(err)
	if len(page.Items) != 0 {
		t.Errorf("the next page shows %d hits after the role was revoked", len(page.Items))
	}
}

// TestSearchFindsRestoredFile: the text of a file that was missing is found after the file has been
// restored.
func TestSearchFindsRestoredFile(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 2)
	ctx, r, other := t.Context(), s.Resources[0], s.Resources[1]
	s.OK(s.replace(r, "quartz\n", "text/plain"))
	s.want(s.Admin, "quartz", "file 0 0")
	s.OK(s.files.Remove(s.Get(r.ID).Digest, func() error { return nil }))
	s.OK(s.Service.Search.Rebuild(ctx, s.Admin))
	s.want(s.Admin, "quartz")
	s.OK(s.replace(other, "quartz\n", "text/plain"))
	for deadline := time.Now().Add(20 * time.Second); len(s.names(s.Admin, 10, "q", "quartz")) < 2; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("found are %q", s.names(s.Admin, 10, "q", "quartz"))
		}
		_, err := s.Service.Files.Edit(ctx, s.Admin, other.ID.String(), files.Fields{Description: new(time.Until(deadline).String())}, core.Match{})
		s.OK(err)
	}
}

// TestSearchOmitsDamaged: the text of a file recorded as damaged is not found, even if it can be
// read.
func TestSearchOmitsDamaged(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 1)
	ctx, r := t.Context(), s.Resources[0]
	s.OK(s.replace(r, "quartz\n", "text/plain"))
	s.want(s.Admin, "quartz", "file 0 0")
	s.OK(s.meta.Update(ctx, func(tx *metadata.Tx) error {
		return tx.Damages.Put(metadata.Damage{Digest: s.Get(r.ID).Digest, Found: tx.Stamp(), What: "it has other bytes"})
	}))
	s.OK(s.Service.Search.Rebuild(ctx, s.Admin))
	s.want(s.Admin, "quartz")
}

// TestSearchWhileDeleting: objects in a set that is being deleted are neither found nor counted.
func TestSearchWhileDeleting(t *testing.T) {
	t.Parallel()
	meta := &stuck{Store: metadatatest.NewMemory(time.Now)}
	svc := repository.New(meta, blobstest.NewMemory(), repository.Config{IndexDir: t.TempDir(), PageSize: 1000})
	t.Cleanup(svc.Close)
	h := repositorytest.NewWorld(t, svc, 250, 3)
	h.OK(svc.Search.Indexed(t.Context()))
	meta.container = h.Sets[0].ID
	meta.broken.Store(true)
	_, err := svc.Sets.Delete(t.Context(), h.Admin, h.Sets[0].ID.String(), repositorytest.Always)
	h.Refused(err, errs.CodeNoSpace)
	h.OK(svc.Search.Indexed(t.Context()))
	found, err := svc.Search.Search(t.Context(), h.Admin, core.ListRequest{Selection: paging.Selection{Text: "file", Counts: true}})
	h.OK(err)
	if found.Total != 3 || len(found.Items) != 3 {
		t.Errorf("%d are found, %d counted", len(found.Items), found.Total)
	}
}

// TestSearchPages: paging shows each hit once, in any order and page size.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 7, 5)
	for _, order := range []string{"relevance", "newest", "oldest", "name"} {
		whole := s.names(s.Admin, 100, "order", order, "q", "file")
		for _, limit := range []int{1, 5} {
			if got := s.names(s.Admin, limit, "order", order, "q", "file"); fmt.Sprint(got) != fmt.Sprint(whole) || len(whole) != 12 {
				t.Errorf("%s in pages of %d: %q, want %q", order, limit, got, whole)
			}
		}
	}
}

// TestInvalidSearches: invalid queries are refused, and all queries without an index.
func TestInvalidSearches(t *testing.T) {
	t.Parallel()
	s := newSearched(t)
	_, err := s.Service.Search.Search(t.Context(), s.Admin, core.ListRequest{Selection: paging.Selection{Text: "size:big"}})
	s.Refused(err, errs.CodeInvalidParameter)
	without := repository.New(metadatatest.NewMemory(time.Now), blobstest.NewMemory(), repository.Config{PageSize: 100})
	defer without.Close()
	w := repositorytest.NewWorld(t, without)
	_, err = without.Search.Search(t.Context(), w.Admin, core.ListRequest{})
	s.Refused(err, errs.CodeUnavailable)
}

// TestSearchFindsObjectsWithoutEntry: objects without an entry, from before the log was introduced,
// are found.
func TestSearchFindsObjectsWithoutEntry(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 3)
	ctx := t.Context()
	r := s.Resources[0]
	s.OK(s.meta.Update(ctx, func(tx *metadata.Tx) error {
		r.Modified, r.Name = tx.Stamp(), "older"
		return tx.Resources.Put(r)
	}))
	s.OK(s.Service.Search.Rebuild(ctx, s.Admin))
	s.want(s.Admin, "type:file", "file 0 1", "file 0 2", "older")
	s.want(s.Admin, "file", "file 0 1", "file 0 2", "older")
}
