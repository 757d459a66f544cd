package client

import (
	"context"
	"net/http"
	"strconv"

	"labshelf/handlers/wire"
)

// everything reads a listing without pages.
func everything[T any](ctx context.Context, c *caller, path string) ([]T, error) {
	var all wire.All[T]
	err := c.run(ctx, request{method: http.MethodGet, path: path}, func(response *http.Response) error {
		err := read(response, &all)
		if err == nil && all.Data == nil {
			err = &Problem{Status: response.StatusCode}
		}
		return err
	})
	return all.Data, err
}

// Webhooks are the calls about webhooks.
type Webhooks struct{ c *caller }

// List returns the webhooks that the caller may manage, by creation: the webhooks of dataspaces
// where the caller is Admin; for sysadmins all.
func (s Webhooks) List(ctx context.Context) ([]Webhook, error) {
	return everything[Webhook](ctx, s.c, at("webhooks"))
}

// Get reads a webhook.
func (s Webhooks) Get(ctx context.Context, id string) (Webhook, error) {
	return one[Webhook](ctx, s.c, request{method: http.MethodGet, path: at("webhooks", id)})
}

// Create creates a webhook, which receives the changes after its creation.
func (s Webhooks) Create(ctx context.Context, w NewWebhook) (SecretWebhook, error) {
	return one[SecretWebhook](ctx, s.c, request{method: http.MethodPost, path: at("webhooks"), in: w, once: true})
}

// Edit changes a webhook, which then acts for the caller.
func (s Webhooks) Edit(ctx context.Context, id string, edit WebhookEdit) (Webhook, error) {
	return one[Webhook](ctx, s.c, request{method: http.MethodPut, path: at("webhooks", id), in: edit})
}

// Delete removes a webhook permanently.
func (s Webhooks) Delete(ctx context.Context, id string) error {
	return s.c.nothing(ctx, request{method: http.MethodDelete, path: at("webhooks", id)})
}

// Rotate gives a webhook another secret; for a day messages are also signed by the former one.
func (s Webhooks) Rotate(ctx context.Context, id string) (SecretWebhook, error) {
	return one[SecretWebhook](ctx, s.c, request{method: http.MethodPost, path: at("webhooks", id, "rotate"), once: true})
}

// Resume lets a paused webhook send again, from where it stopped.
func (s Webhooks) Resume(ctx context.Context, id string) (Webhook, error) {
	return one[Webhook](ctx, s.c, request{method: http.MethodPost, path: at("webhooks", id, "resume")})
}

// Skip lets a webhook skip the message that failed or, with all, all messages up to now.
func (s Webhooks) Skip(ctx context.Context, id string, all bool) (Webhook, error) {
	return one[Webhook](ctx, s.c, request{method: http.MethodPost, path: at("webhooks", id, "skip"), in: wire.WebhookSkip{All: all}, once: true})
}

// Deliveries returns the last deliveries of a webhook, up to 200, the newest first.
func (s Webhooks) Deliveries(ctx context.Context, webhook string) ([]Delivery, error) {
	return everything[Delivery](ctx, s.c, at("webhooks", webhook, "deliveries"))
}

// RepeatDelivery sends a message again, and returns the result. It takes as long as the receiver,
// up to 15 seconds.
func (s Webhooks) RepeatDelivery(ctx context.Context, webhook string, number uint64) (Delivery, error) {
	return one[Delivery](ctx, s.c, request{method: http.MethodPost, path: at("webhooks", webhook, "deliveries", strconv.FormatUint(number, 10), "repeat"), once: true})
}
