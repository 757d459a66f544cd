package client

import (
	"context"
	"io"
	"net/http"
)

// Edits are the calls about bulk edits of metadata.
type Edits struct{ c *caller }

// CSV downloads the metadata of the active files of a set as CSV, separated by commas.
func (s Edits) CSV(ctx context.Context, set string) (file []byte, err error) {
	err = s.c.run(ctx, request{method: http.MethodGet, path: metadataOf(set, false)}, func(response *http.Response) (err error) {
		if err := typed(response, "text/csv"); err != nil {
			return err
		}
		defer closing(response.Body, &err)
		file, err = io.ReadAll(bodyReader{response.Body})
		return err
	})
	return file, err
}

// ByCSV changes the metadata of files of a set with a downloaded and edited CSV of up to 32 MiB; a
// preview changes nothing. If any row has a problem, nothing is changed.
func (s Edits) ByCSV(ctx context.Context, set string, file []byte, preview bool) (EditOutcome, error) {
	return one[EditOutcome](ctx, s.c, request{method: http.MethodPost, path: metadataOf(set, preview), csv: file, once: !preview})
}

func metadataOf(set string, preview bool) string {
	path := at("sets", set, "metadata")
	if preview && path != "" {
		path += "?preview=true"
	}
	return path
}

// Many makes one change of several files of a set; a preview changes nothing.
func (s Edits) Many(ctx context.Context, set string, edit ManyEdit, preview bool) (EditOutcome, error) {
	return one[EditOutcome](ctx, s.c, request{method: http.MethodPost, path: metadataOf(set, preview), in: edit, once: !preview})
}

// List returns the last hundred bulk edits of a set, the newest first.
func (s Edits) List(ctx context.Context, set string) ([]Edit, error) {
	return everything[Edit](ctx, s.c, at("sets", set, "edits"))
}

// Get reads a bulk edit.
func (s Edits) Get(ctx context.Context, id string) (Edit, error) {
	return one[Edit](ctx, s.c, request{method: http.MethodGet, path: at("edits", id)})
}

// Undo restores the values that nobody has changed since, and lists the others in Problems.
func (s Edits) Undo(ctx context.Context, id string) (EditOutcome, error) {
	return one[EditOutcome](ctx, s.c, request{method: http.MethodPost, path: at("edits", id, "undo"), once: true})
}
