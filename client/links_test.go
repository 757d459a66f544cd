package client_test

import (
	"context"
	"testing"

	"labshelf/client"
)

// linksOf makes the calls for links.
func linksOf(ctx context.Context, t *testing.T, c *client.Client, set client.Set) {
	made := must[client.AddressedLink](t)(c.NewLink(ctx, client.NewLink{Kind: client.Share, SetID: set.ID, Label: "x"}))
	link, label := must[client.Link](t), "label"
	edited := link(c.EditLink(ctx, made.ID, client.LinkEdit{Label: &label}))
	read := link(c.Link(ctx, made.ID))
	same(t, read.Label, label)
	same(t, read.Modified, edited.Modified)
	same(t, link(c.TakeLink(ctx, made.ID)).OwnerID, made.OwnerID)
	if err := c.EndLinkUploads(ctx, made.ID); err != nil {
		t.Error(err)
	}
	n := 0
	for l, err := range c.Links(ctx, client.ListOptions{SetID: set.ID}) {
		check(t, err)
		same(t, l.ID, made.ID)
		n++
	}
	if n != 1 || made.Address == "" {
		t.Errorf("%d links, made %+v", n, made)
	}
	invited := must[client.AddressedLink](t)(c.NewLink(ctx, client.NewLink{Kind: client.Invitation, DataspaceID: made.DataspaceID, Role: client.Member}))
	same(t, invited.DataspaceID+invited.SetID+invited.Role, made.DataspaceID+client.Member)
	check(t, c.RevokeLink(ctx, invited.ID))
	check(t, c.RevokeLink(ctx, made.ID))
	same(t, link(c.Link(ctx, made.ID)).State, "revoked")
}
