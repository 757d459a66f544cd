package client_test

import (
	"context"
	"testing"

	"labshelf/client"
)

// placements makes the calls that copy and move a resource. It stays as it is.
func placements(ctx context.Context, t *testing.T, c *client.Client, r client.Resource) {
	resource := must[client.Resource](t)
	copied := resource(c.CopyResource(ctx, r.ID, client.Destination{Name: "copy"}))
	other := must[client.Set](t)(c.NewSet(ctx, client.NewSet{Name: "other-of-moves", DataspaceID: r.DataspaceID}))
	moved := resource(c.MoveResource(ctx, copied.ID, client.Destination{SetID: other.ID}, client.IfMatch(copied.ETag)))
	left := resource(c.Resource(ctx, copied.ID))
	if copied.ID == r.ID || moved.ID == copied.ID || moved.Name != "copy" || moved.SetID != other.ID || left.MovedTo != moved.ID || left.State != client.Deleted {
		t.Errorf("copied %+v, moved %+v, left %+v", copied, moved, left)
	}
	back := resource(c.MoveResource(ctx, moved.ID, client.Destination{SetID: r.SetID, Name: "back"}))
	if back.ID != copied.ID || back.MovedTo != "" || back.Name != "back" {
		t.Errorf("moved back %+v", back)
	}
	check(t, c.DeleteResource(ctx, back.ID))
}
