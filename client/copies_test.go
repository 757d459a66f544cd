package client_test

import (
	"context"
	"testing"

	"labshelf/client"
)

// placements makes the calls that copy and move a resource. At the end, the resource is unchanged.
func placements(ctx context.Context, t *testing.T, c *client.Client, r client.Resource) {
	resource := must[client.Resource](t)
	copied := resource(c.Resources.Copy(ctx, r.ID, client.Destination{Name: "copy"}))
	other := must[client.Set](t)(c.Sets.Create(ctx, client.NewSet{Name: "other-of-moves", DataspaceID: r.DataspaceID}))
	moved := resource(c.Resources.Move(ctx, copied.ID, client.Destination{SetID: other.ID}, client.IfMatch(copied.ETag)))
	left := resource(c.Resources.Get(ctx, copied.ID))
	if copied.ID == r.ID || moved.ID == copied.ID || moved.Name != "copy" || moved.SetID != other.ID || left.MovedTo != moved.ID || left.State != client.Deleted {
		t.Errorf("copied %+v, moved %+v, former record %+v", copied, moved, left)
	}
	back := resource(c.Resources.Move(ctx, moved.ID, client.Destination{SetID: r.SetID, Name: "back"}))
	if back.ID != copied.ID || back.MovedTo != "" || back.Name != "back" {
		t.Errorf("moved back %+v", back)
	}
	folders(ctx, t, c, back, other.ID)
	check(t, c.Resources.Delete(ctx, back.ID))
}

// folders makes the calls about folders.
func folders(ctx context.Context, t *testing.T, c *client.Client, r client.Resource, other string) {
	folder := must[client.FolderChange](t)
	folder(c.Folders.Create(ctx, r.SetID, "made/"))
	r = must[client.Resource](t)(c.Resources.Move(ctx, r.ID, client.Destination{Name: "made/file"}))
	same(t, folder(c.Folders.Copy(ctx, r.SetID, "made/", client.FolderDestination{Path: "copied/"})), client.FolderChange{SetID: r.SetID, Path: "copied/", Files: 1, Folders: 1})
	same(t, folder(c.Folders.Move(ctx, r.SetID, "copied/", client.FolderDestination{Path: "moved/", SetID: other})), client.FolderChange{SetID: other, Path: "moved/", Files: 1, Folders: 1})
	same(t, must[client.FolderSize](t)(c.Folders.Size(ctx, other, "moved/")), client.FolderSize{Path: "moved/", Files: 1, Bytes: r.Bytes})
	same(t, must[client.FolderSize](t)(c.Folders.Size(ctx, other, "")).Bounded, false)
	outline := must[client.Outline](t)(c.Sets.Outline(ctx, other, client.ListOptions{Order: "name", Folders: true, Limit: 1}))
	if outline.Total != len(outline.Marks)+1 || outline.Bounded {
		t.Errorf("outline %+v", outline)
	}
	zip := must[*client.Download](t)(c.Folders.Archive(ctx, other, "moved/"))
	check(t, zip.Close())
	deleted := folder(c.Folders.Delete(ctx, other, "moved/"))
	if deleted.Files != 1 || deleted.Folders != 1 || deleted.Deletion == "" {
		t.Errorf("deleted %+v", deleted)
	}
	same(t, deleted.CreatedFolders, []string{"moved/"})
	same(t, folder(c.Folders.Restore(ctx, deleted)), client.FolderChange{SetID: other, Path: "moved/", Files: 1, Folders: 1})
	top := ""
	done := must[[]client.ManyResult](t)(c.Sets.ChangeMany(ctx, r.SetID, client.ManyFiles{Action: client.CopyMany, IDs: []string{r.ID, "x"}, SetID: other, Folder: &top}))
	if len(done) != 2 || done[0].ResourceID == "" || done[0].Code != "" || done[1].Code != "resource_not_found" {
		t.Fatalf("copied %+v", done)
	}
	same(t, must[[]client.ManyResult](t)(c.Sets.ChangeMany(ctx, other, client.ManyFiles{Action: client.DeleteMany, IDs: []string{done[0].ResourceID}})), []client.ManyResult{{ID: done[0].ResourceID}})
	folder(c.Folders.Delete(ctx, other, "moved/"))
}
