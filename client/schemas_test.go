package client_test

import (
	"context"
	"encoding/json"
	"testing"

	"labshelf/client"
)

// schemasOf makes every call about schemas.
func schemasOf(ctx context.Context, t *testing.T, c *client.Client, space client.Dataspace, set client.Set) {
	t.Helper()
	schema := must[client.Schema](t)
	made := schema(c.Schemas.Create(ctx, space.ID, client.NewSchema{Name: "runs", Schema: json.RawMessage(`{"required":["sample"]}`), For: client.ForSets}))
	title, second := "Runs", json.RawMessage(`{"required":["sample","operator"]}`)
	edited := schema(c.Schemas.Edit(ctx, made.ID, client.SchemaEdit{Title: &title, Schema: second}, client.IfMatch(made.ETag)))
	if edited.Version != 2 || len(edited.Schema) < len(second) || edited.Title != title || edited.ETag == made.ETag {
		t.Errorf("edited %+v", edited)
	}
	same(t, schema(c.Schemas.Get(ctx, made.ID)).ETag, edited.ETag)
	of := must[client.Conformance](t)(c.Sets.Conformance(ctx, set.ID))
	if of.Schema == nil || of.Schema.Name != "runs" || of.Newest != 2 || !of.Incomplete || len(of.Problems) != 2 || of.Problems[1].Path != "/sample" {
		t.Errorf("a set without properties: %+v", of)
	}
	for r, err := range c.Resources.List(ctx, client.ListOptions{}) {
		check(t, err)
		if of := must[client.Conformance](t)(c.Resources.Conformance(ctx, r.ID)); of.Schema != nil || of.Incomplete {
			t.Errorf("a file without schema: %+v", of)
		}
	}
	if versions := must[[]client.SchemaVersion](t)(c.Schemas.Versions(ctx, made.ID)); len(versions) != 2 || versions[0].Version != 2 {
		t.Errorf("versions %+v", versions)
	}
	same(t, string(must[client.SchemaVersion](t)(c.Schemas.Version(ctx, made.ID, 1)).Schema), string(made.Schema))
	check(t, c.Schemas.Delete(ctx, made.ID))
	if all := must[[]client.Schema](t)(c.Schemas.List(ctx, space.ID)); len(all) != 1 || all[0].State != client.Deleted {
		t.Errorf("schemas %+v", all)
	}
	same(t, schema(c.Schemas.Restore(ctx, made.ID)).State, client.Active)
}
