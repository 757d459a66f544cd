package client_test

import (
	"context"
	"strings"
	"testing"

	"labshelf/client"
)

// manyEdits changes the metadata of many files.
func manyEdits(ctx context.Context, t *testing.T, c *client.Client, set client.Set) {
	var ids []string
	for r, err := range c.Sets.Resources(ctx, set.ID, client.ListOptions{}) {
		check(t, err)
		ids = append(ids, r.ID)
	}
	tagged := must[client.EditOutcome](t)(c.Edits.Many(ctx, set.ID, client.ManyEdit{IDs: ids, Metadata: `{"properties":{"p":1}}`, AddTags: []string{"a"}}, false))
	file := must[[]byte](t)(c.Edits.CSV(ctx, set.ID))
	edited := must[client.EditOutcome](t)(c.Edits.ByCSV(ctx, set.ID, []byte(strings.ReplaceAll(string(file), ",1\r", ",2\r")), true))
	undone := must[client.EditOutcome](t)(c.Edits.Undo(ctx, tagged.Edit.ID))
	edit := must[client.Edit](t)(c.Edits.Get(ctx, tagged.Edit.ID))
	edits := must[[]client.Edit](t)(c.Edits.List(ctx, set.ID))
	if len(ids) == 0 || tagged.Changed != len(ids) || edited.Changed != len(ids) || undone.Changed != len(ids) || edit.Undone != undone.Edit.ID || len(edits) != 2 {
		t.Errorf("%d files: %+v, %+v, %+v, %+v", len(ids), tagged, edited, undone, edits)
	}
}
