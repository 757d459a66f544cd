package repository_test

import (
	"testing"

	"labshelf/metadata"
	"labshelf/paging"
	"labshelf/repository/core"
	"labshelf/repository/describe"
	"labshelf/repository/files"
	"labshelf/repository/repositorytest"
)

// TestSearchIncomplete: objects without required properties are found as incomplete. The search
// follows each change of a schema, also in combination with the text of files, and also after a
// restart and a rebuild.
func TestSearchIncomplete(t *testing.T) {
	t.Parallel()
	s := newSearched(t, 2, 1)
	ctx := t.Context()
	s.OK(s.replace(s.Resources[0], "quartz\n", "text/csv"))
	s.want(s.Admin, "is:incomplete")
	make := func(name string, more describe.NewSchema) describe.Schema {
		made, err := s.Service.Schemas.Create(ctx, s.Admin, s.Space.ID.String(), newSchema(name, more))
		s.OK(err)
		return made
	}
	sample := make("sample", describe.NewSchema{})
	s.want(s.Admin, "is:incomplete", "file 0 0", "file 0 1", "file 1 0")
	s.want(s.Admin, "is:incomplete quartz", "file 0 0")
	room := make("room", describe.NewSchema{For: metadata.ForSets})
	s.want(s.Admin, "is:incomplete type:set", "set-0", "set-1")
	say := func(r metadata.Resource, text string) {
		_, err := s.Service.Files.Edit(ctx, s.Admin, r.ID.String(), files.Fields{Metadata: patch(text)}, core.Match{})
		s.OK(err)
	}
	say(s.Resources[0], `{"properties":{"sample":"S1"}}`)
	s.want(s.Admin, "is:incomplete type:file", "file 0 1", "file 1 0")
	s.want(s.Admin, "-is:incomplete quartz", "file 0 0")
	change := func(of describe.Schema, fields describe.SchemaFields) {
		_, err := s.Service.Schemas.Update(ctx, s.Admin, of.ID.String(), fields, core.Match{})
		s.OK(err)
	}
	change(sample, describe.SchemaFields{Types: []string{"text/csv"}, Text: needs("operator")})
	s.want(s.Admin, "is:incomplete type:file") // the remaining file was created with the first version
	say(s.Resources[0], `{"schema":{"version":2}}`)
	s.want(s.Admin, "is:incomplete type:file", "file 0 0")
	s.reopen()
	change(room, describe.SchemaFields{Text: []byte(`true`)})
	change(sample, describe.SchemaFields{Types: []string{"text/plain"}})
	s.reopen()
	s.want(s.Admin, "is:incomplete", "file 0 1", "file 1 0")
	s.want(s.Admin, "quartz", "file 0 0")
	s.OK(s.Service.Search.Rebuild(ctx, s.Admin))
	s.want(s.Admin, "is:incomplete", "file 0 1", "file 1 0")
	_, err := s.Service.Schemas.Delete(ctx, s.Admin, sample.ID.String(), repositorytest.Always)
	s.OK(err)
	s.want(s.Admin, "is:incomplete")
	_, err = s.Service.Schemas.Restore(ctx, s.Admin, sample.ID.String(), repositorytest.Always)
	s.OK(err)
	s.want(s.Admin, "is:incomplete", "file 0 1", "file 1 0")
}

// TestSearchIncompleteMany: objects are validated again in several steps without omissions, and
// files uploaded in between are found immediately.
func TestSearchIncompleteMany(t *testing.T) {
	t.Parallel()
	const files = 600 // one step reads the text of 256 files
	s := newSearched(t, files, 1)
	s.OK(s.Service.Search.Indexed(t.Context()))
	first, err := s.Service.Schemas.Create(t.Context(), s.Admin, s.Space.ID.String(), describe.NewSchema{SchemaFields: describe.SchemaFields{Name: new("first"), Text: needs("x")}})
	s.OK(err)
	_, err = s.Service.Schemas.Create(t.Context(), s.Admin, s.Space.ID.String(), describe.NewSchema{For: metadata.ForSets, SchemaFields: describe.SchemaFields{Name: new("second"), Text: needs("y")}})
	s.OK(err)
	for behind := true; behind; { // a search reports that it is behind until everything is indexed
		found, err := s.Service.Search.Search(t.Context(), s.Admin, core.ListRequest{Selection: paging.Selection{Text: "is:incomplete", Counts: true}})
		s.OK(err)
		if behind = found.Behind > 0; !behind && found.Total != files+1+2 {
			t.Errorf("a search that is not behind finds %d objects, want %d files and 2 sets", found.Total, files+1)
		}
	}
	s.Upload(s.Sets[1], "late")
	if got := len(s.names(s.Admin, 1000, "q", "is:incomplete")); got != files+2+2 {
		t.Errorf("%d are incomplete, want %d files and 2 sets", got, files+2)
	}
	if got := len(s.names(s.Admin, 1000, "q", "is:incomplete file")); got != files+1 { // by their text
		t.Errorf("%d incomplete files are found by their text, want %d", got, files+1)
	}
	_, err = s.Service.Schemas.Delete(t.Context(), s.Admin, first.ID.String(), repositorytest.Always)
	s.OK(err)
	s.want(s.Admin, "is:incomplete", "set-0", "set-1")
}
