package client

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// Paused is the State of a webhook that sends nothing.
const Paused = "paused"

// Webhook is where messages about changes go.
type Webhook struct {
	ID                string    `json:"id"`
	URL               string    `json:"url"` // where it sends
	Label             string    `json:"label"`
	DataspaceID       string    `json:"dataspaceId,omitempty"` // "": it hears of all changes of the service
	Events            []string  `json:"events"`                // kinds, such as resource.create or resource.*; empty: everything
	State             string    `json:"state"`                 // Active or Paused
	Created           time.Time `json:"created"`
	Modified          time.Time `json:"modified"`
	CreatedBy         string    `json:"createdBy"`
	ModifiedBy        string    `json:"modifiedBy"`         // for whom it acts
	MadeWith          string    `json:"madeWith,omitempty"` // id of the key with which it pauses; "": none
	Reason            string    `json:"reason,omitempty"`   // why it is paused: failed, gone, role_lost, key_ended or restored
	Because           string    `json:"because,omitempty"`  // what was the matter, for people
	Paused            time.Time `json:"paused,omitzero"`
	Position          uint64    `json:"position"`   // number of the first entry of the audit log that it has not dealt with
	Deliveries        uint64    `json:"deliveries"` // how many messages it has dealt with
	Tries             uint32    `json:"tries"`      // of the message that waits
	NextTry           time.Time `json:"nextTry,omitzero"`
	FormerSecretUntil time.Time `json:"formerSecretUntil,omitzero"`
}

// SecretWebhook is a webhook with its secret, which the service does not show again.
type SecretWebhook struct {
	Webhook
	Secret string `json:"secret"` // whsec_…
}

// NewWebhook is a webhook to be made. Only URL is needed.
type NewWebhook struct {
	URL         string   `json:"url"`
	DataspaceID string   `json:"dataspaceId,omitempty"` // "": all changes of the service, for sysadmins
	Events      []string `json:"events,omitempty"`
	Label       string   `json:"label,omitempty"` // up to 100 characters
}

// WebhookEdit changes a webhook; nil fields stay.
type WebhookEdit struct {
	URL    *string   `json:"url,omitempty"`
	Events *[]string `json:"events,omitempty"`
	Label  *string   `json:"label,omitempty"`
}

// Delivery is one message of a webhook, and what came of it.
type Delivery struct {
	Number       uint64    `json:"number"` // from 0, for each webhook
	MessageID    string    `json:"messageId"`
	Entry        uint64    `json:"entry"` // of the audit log
	Event        string    `json:"event"`
	State        string    `json:"state"` // delivered, failed or skipped
	Tries        uint32    `json:"tries"`
	First        time.Time `json:"first"`
	Last         time.Time `json:"last"`
	Status       int       `json:"status"` // of the last answer; 0: none came
	Milliseconds int64     `json:"milliseconds"`
	Error        string    `json:"error,omitempty"`
	Answer       string    `json:"answer,omitempty"` // its beginning
}

func (w *Webhook) identify(string) string { return w.ID }

func (d *Delivery) identify(string) string { return d.MessageID }

// everything reads a listing that has no pages.
func everything[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	var all struct {
		Data []T `json:"data"`
	}
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
	return one[Webhook](ctx, c, request{method: http.MethodPost, path: at("webhooks", id, "skip"), in: struct {
		All bool `json:"all"`
	}{all}, once: true})
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
