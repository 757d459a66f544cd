package client

import (
	"context"
	"net/http"
	"strconv"

	"labshelf/handlers/wire"
)

// everything reads a listing that has no pages.
func everything[T any](ctx context.Context, c *Client, path string) ([]T, error) {
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

// Webhooks returns the webhooks that the caller may manage, by creation: those of dataspaces where
// the caller is Admin; for sysadmins all.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	return everything[Webhook](ctx, c, at("webhooks"))
}

// Webhook reads a webhook.
func (c *Client) Webhook(ctx context.Context, id string) (Webhook, error) {
	return one[Webhook](ctx, c, request{method: http.MethodGet, path: at("webhooks", id)})
}

// NewWebhook makes a webhook, which hears of what happens from then on.
func (c *Client) NewWebhook(ctx context.Context, w NewWebhook) (SecretWebhook, error) {
	return one[SecretWebhook](ctx, c, request{method: http.MethodPost, path: at("webhooks"), in: w, once: true})
}

// EditWebhook changes a webhook, which acts for the caller from then on.
func (c *Client) EditWebhook(ctx context.Context, id string, edit WebhookEdit) (Webhook, error) {
	return one[Webhook](ctx, c, request{method: http.MethodPut, path: at("webhooks", id), in: edit})
}

// DeleteWebhook removes a webhook for good.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	return c.nothing(ctx, request{method: http.MethodDelete, path: at("webhooks", id)})
}

// RotateWebhook gives a webhook another secret; for a day messages are signed by the former one,
// too.
func (c *Client) RotateWebhook(ctx context.Context, id string) (SecretWebhook, error) {
	return one[SecretWebhook](ctx, c, request{method: http.MethodPost, path: at("webhooks", id, "rotate"), once: true})
}

// ResumeWebhook lets a webhook that is paused send again, from where it stopped.
func (c *Client) ResumeWebhook(ctx context.Context, id string) (Webhook, error) {
	return one[Webhook](ctx, c, request{method: http.MethodPost, path: at("webhooks", id, "resume")})
}

// SkipWebhook lets a webhook pass over the message that failed, or with all over everything up to
// now.
func (c *Client) SkipWebhook(ctx context.Context, id string, all bool) (Webhook, error) {
	return one[Webhook](ctx, c, request{method: http.MethodPost, path: at("webhooks", id, "skip"), in: wire.WebhookSkip{All: all}, once: true})
}

// Deliveries returns the last deliveries of a webhook, up to 200, the newest first.
func (c *Client) Deliveries(ctx context.Context, webhook string) ([]Delivery, error) {
	return everything[Delivery](ctx, c, at("webhooks", webhook, "deliveries"))
}

// RepeatDelivery sends a message once more, and returns what came of it. It takes as long as the
// receiver, up to 15 seconds.
func (c *Client) RepeatDelivery(ctx context.Context, webhook string, number uint64) (Delivery, error) {
	return one[Delivery](ctx, c, request{method: http.MethodPost, path: at("webhooks", webhook, "deliveries", strconv.FormatUint(number, 10), "repeat"), once: true})
}
