package client_test

import (
	"context"
	"testing"

	"labshelf/client"
)

// linksOf makes the calls for links.
func linksOf(ctx context.Context, t *testing.T, c *client.Client, set client.Set) {
	made := must[client.AddressedLink](t)(c.Links.Create(ctx, client.NewLink{Kind: client.Share, SetID: set.ID, Label: "x"}))
	link, label := must[client.Link](t), "label"
	edited := link(c.Links.Edit(ctx, made.ID, client.LinkEdit{Label: &label}))
	read := link(c.Links.Get(ctx, made.ID))
	same(t, read.Label, label)
	same(t, read.Modified, edited.Modified)
	same(t, link(c.Links.Take(ctx, made.ID)).OwnerID, made.OwnerID)
	if err := c.Links.EndUploads(ctx, made.ID); err != nil {
		t.Error(err)
	}
	n := 0
	for l, err := range c.Links.List(ctx, client.ListOptions{SetID: set.ID}) {
		check(t, err)
		same(t, l.ID, made.ID)
		n++
	}
	if n != 1 || made.Address == "" {
		t.Errorf("%d links, created %+v", n, made)
	}
	invited := must[client.AddressedLink](t)(c.Links.Create(ctx, client.NewLink{Kind: client.Invitation, DataspaceID: made.DataspaceID, Role: client.Member}))
	same(t, invited.DataspaceID+invited.SetID+invited.Role, made.DataspaceID+client.Member)
	check(t, c.Links.Revoke(ctx, invited.ID))
	check(t, c.Links.Revoke(ctx, made.ID))
	same(t, link(c.Links.Get(ctx, made.ID)).State, "revoked")
}
