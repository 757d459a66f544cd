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
	made := schema(c.NewSchema(ctx, space.ID, client.NewSchema{Name: "runs", Schema: json.RawMessage(`{"required":["sample"]}`), For: client.ForSets}))
	title, second := "Runs", json.RawMessage(`{"required":["sample","operator"]}`)
	edited := schema(c.EditSchema(ctx, made.ID, client.SchemaEdit{Title: &title, Schema: second}, client.IfMatch(made.ETag)))
	if edited.Version != 2 || len(edited.Schema) < len(second) || edited.Title != title || edited.ETag == made.ETag {
		t.Errorf("edited %+v", edited)
	}
	same(t, schema(c.Schema(ctx, made.ID)).ETag, edited.ETag)
	of := must[client.Conformance](t)(c.SetConformance(ctx, set.ID))
	if of.Schema == nil || of.Schema.Name != "runs" || of.Newest != 2 || !of.Incomplete || len(of.Problems) != 2 || of.Problems[1].Path != "/sample" {
		t.Errorf("a set without properties: %+v", of)
	}
	for r, err := range c.Resources(ctx, client.ListOptions{}) {
		check(t, err)
		if of := must[client.Conformance](t)(c.ResourceConformance(ctx, r.ID)); of.Schema != nil || of.Incomplete {
			t.Errorf("a file without schema: %+v", of)
		}
	}
	if versions := must[[]client.SchemaVersion](t)(c.SchemaVersions(ctx, made.ID)); len(versions) != 2 || versions[0].Version != 2 {
		t.Errorf("versions %+v", versions)
	}
	same(t, string(must[client.SchemaVersion](t)(c.SchemaVersion(ctx, made.ID, 1)).Schema), string(made.Schema))
	check(t, c.DeleteSchema(ctx, made.ID))
	if all := must[[]client.Schema](t)(c.Schemas(ctx, space.ID)); len(all) != 1 || all[0].State != client.Deleted {
		t.Errorf("schemas %+v", all)
	}
	same(t, schema(c.RestoreSchema(ctx, made.ID)).State, client.Active)
}
