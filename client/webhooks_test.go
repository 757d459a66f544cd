package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"labshelf/client"
)

// webhooksOf makes the calls for webhooks. The only event is the creation of a set, and the
// receiver fails once.
func webhooksOf(ctx context.Context, t *testing.T, c *client.Client, space client.Dataspace) {
	received := make(chan int, 8)
	failed := false
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := http.StatusNoContent
		if !failed {
			failed, status = true, http.StatusInternalServerError
		}
		w.WriteHeader(status)
		received <- status
	}))
	t.Cleanup(receiver.Close)
	made := must[client.SecretWebhook](t)(c.Webhooks.Create(ctx, client.NewWebhook{URL: receiver.URL, DataspaceID: space.ID, Events: []string{"set.create"}, Label: "x"}))
	hook := must[client.Webhook](t)
	label := "label"
	edited := hook(c.Webhooks.Edit(ctx, made.ID, client.WebhookEdit{Label: &label}))
	same(t, hook(c.Webhooks.Get(ctx, made.ID)), edited)
	if all := must[[]client.Webhook](t)(c.Webhooks.List(ctx)); len(all) != 1 || all[0].Label != label || made.Secret == "" || edited.Position < made.Position {
		t.Errorf("webhooks %+v after %+v", all, made)
	}
	if rotated := must[client.SecretWebhook](t)(c.Webhooks.Rotate(ctx, made.ID)); rotated.Secret == made.Secret || rotated.FormerSecretUntil.IsZero() {
		t.Errorf("rotated %+v", rotated)
	}
	must[client.Set](t)(c.Sets.Create(ctx, client.NewSet{Name: "heard", DataspaceID: space.ID}))
	same(t, <-received, http.StatusInternalServerError)
	var failing []client.Delivery
	for len(failing) == 0 { // until the response is committed
		failing = must[[]client.Delivery](t)(c.Webhooks.Deliveries(ctx, made.ID))
	}
	repeated := must[client.Delivery](t)(c.Webhooks.RepeatDelivery(ctx, made.ID, failing[0].Number))
	if repeated.MessageID != failing[0].MessageID || failing[0].State != "failed" || repeated.State != "delivered" || repeated.Tries < 2 {
		t.Errorf("delivery %+v after %+v", repeated, failing[0])
	}
	if skipped := hook(c.Webhooks.Skip(ctx, made.ID, true)); skipped.Tries != 0 || skipped.Deliveries != 1 {
		t.Errorf("skipped %+v", skipped)
	}
	same(t, hook(c.Webhooks.Resume(ctx, made.ID)).State, client.Active)
	check(t, c.Webhooks.Delete(ctx, made.ID))
}
