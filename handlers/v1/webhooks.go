package v1

import (
	"context"
	"errors"
	"net/http"

	"labshelf/auth"
	"labshelf/handlers/internal/body"
	"labshelf/handlers/internal/encode"
	"labshelf/handlers/internal/exchange"
	"labshelf/handlers/internal/input"
	"labshelf/handlers/wire"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/watch"
)

// Webhooks serves webhooks.
type Webhooks struct{ *api }

func showAll[T, J any](items []T, show func(T) J) wire.All[J] {
	shown := wire.All[J]{Data: make([]J, len(items))}
	for i, item := range items {
		shown.Data[i] = show(item)
	}
	return shown
}

func showWebhook(w metadata.Webhook) wire.Webhook {
	shown := wire.Webhook{
		ID: w.ID.String(), URL: w.URL, Label: w.Label, Events: watch.EventsOf(w), MadeWith: encode.OptionalID(w.MadeWith), State: "active", History: history(w.Record),
		Position: w.Position, Deliveries: w.Deliveries, Tries: w.Tries, NextTry: encode.Time(w.NextTry), FormerSecretUntil: encode.Time(w.FormerUntil),
	}
	if w.DataspaceID != (metadata.ID{}) {
		shown.DataspaceID = w.DataspaceID.String()
	}
	if w.Paused != 0 {
		shown.State, shown.Paused, shown.Reason, shown.Because = "paused", encode.Time(w.Paused), w.PauseReason.String(), w.PausedBecause
	}
	return shown
}

func showDelivery(d metadata.Delivery) wire.Delivery {
	shown := wire.Delivery{
		Number: d.Number, MessageID: d.MessageID, Entry: d.Entry, Event: d.Event, State: "failed", Tries: d.Tries,
		First: encode.Time(d.First), Last: encode.Time(d.Last), Status: int(d.Status), Milliseconds: d.Micros / 1000, Error: d.Error, Answer: d.Answer,
	}
	switch {
	case d.Delivered():
		shown.State = "delivered"
	case d.Skipped:
		shown.State = "skipped"
	}
	return shown
}

// List answers with the webhooks that the caller may manage.
func (a Webhooks) List(w http.ResponseWriter, r *exchange.Request) error {
	list, err := a.repo.Webhooks.List(r.Context(), r.Caller)
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showAll(list, showWebhook))
	}
	return err
}

// Create answers with the new webhook and its secret. Only Create and Rotate show the secret.
func (a Webhooks) Create(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil {
		return err
	}
	hook, err := input.NewWebhook(fields)
	if err != nil {
		return err
	}
	created, err := a.repo.Webhooks.Create(r.Context(), r.Caller, hook)
	if err != nil {
		return err
	}
	w.Header().Set("Location", a.presenter(r).url("webhooks", created.ID.String()))
	writeSecret(w, http.StatusCreated, created)
	return nil
}

func writeSecret(w http.ResponseWriter, status int, hook metadata.Webhook) {
	shown := wire.SecretWebhook{Webhook: showWebhook(hook), Secret: hook.Secret}
	w.Header().Set("Cache-Control", "no-store")
	exchange.WriteJSON(w, status, shown)
}

func sendWebhook(w http.ResponseWriter, hook metadata.Webhook, err error) error {
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showWebhook(hook))
	}
	return err
}

// Get answers with the record of a webhook.
func (a Webhooks) Get(w http.ResponseWriter, r *exchange.Request) error {
	hook, err := a.repo.Webhooks.Get(r.Context(), r.Caller, r.ID())
	return sendWebhook(w, hook, err)
}

// Update changes the record of a webhook.
func (a Webhooks) Update(w http.ResponseWriter, r *exchange.Request) error {
	updated, err := editing[metadata.Webhook, watch.WebhookFields]{
		input.WebhookEdit, a.repo.Webhooks.Get, fieldsOf(showWebhook),
		func(ctx context.Context, p auth.Principal, id string, f watch.WebhookFields, match core.Match) (metadata.Webhook, error) {
			return a.repo.Webhooks.Update(ctx, p, id, f, core.Match{Read: match.Read}) // a webhook has no entity tag
		},
	}.edit(w, r)
	return sendWebhook(w, updated, err)
}

// Delete deletes a webhook.
func (a Webhooks) Delete(w http.ResponseWriter, r *exchange.Request) error {
	return exchange.WriteNothing(w, "", a.repo.Webhooks.Delete(r.Context(), r.Caller, r.ID()))
}

// Rotate gives a webhook a new secret.
func (a Webhooks) Rotate(w http.ResponseWriter, r *exchange.Request) error {
	rotated, err := a.repo.Webhooks.Rotate(r.Context(), r.Caller, r.ID())
	if err == nil {
		writeSecret(w, http.StatusOK, rotated)
	}
	return err
}

// Resume resumes the deliveries of a paused webhook.
func (a Webhooks) Resume(w http.ResponseWriter, r *exchange.Request) error {
	resumed, err := a.repo.Webhooks.Resume(r.Context(), r.Caller, r.ID())
	return sendWebhook(w, resumed, err)
}

// Skip skips messages of a webhook. A request without a body skips one message.
func (a Webhooks) Skip(w http.ResponseWriter, r *exchange.Request) error {
	fields, err := body.Fields(w, r.Request)
	if err != nil && !errors.Is(err, body.ErrEmpty) {
		return err
	}
	skipped, err := a.repo.Webhooks.Skip(r.Context(), r.Caller, r.ID(), input.Skip(fields))
	return sendWebhook(w, skipped, err)
}

// Deliveries answers with the latest deliveries of a webhook.
func (a Webhooks) Deliveries(w http.ResponseWriter, r *exchange.Request) error {
	list, err := a.repo.Webhooks.ListDeliveries(r.Context(), r.Caller, r.ID())
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showAll(list, showDelivery))
	}
	return err
}

// Repeat sends a message again.
func (a Webhooks) Repeat(w http.ResponseWriter, r *exchange.Request) error {
	repeated, err := a.repo.Webhooks.RepeatDelivery(r.Context(), r.Caller, r.ID(), r.Params.ByName("number"))
	if err == nil {
		exchange.WriteJSON(w, http.StatusOK, showDelivery(repeated))
	}
	return err
}
