package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"labshelf/auth"
	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/core"
	"labshelf/repository/hooks"
	"labshelf/repository/internal/rows"
	"labshelf/repository/webhooks"
)

// Webhooks offers the use cases of webhooks. It is safe for concurrent use.
type Webhooks struct {
	core   *core.Core
	hooks  *hooks.Hooks
	sender hooks.Sender
}

// StartWebhooks returns the webhooks of a repository, and starts sending their messages with
// sender. The caller must close them before the Core.
func StartWebhooks(core *core.Core, sender hooks.Sender, now func() time.Time) *Webhooks {
	return &Webhooks{core: core, hooks: hooks.Start(core.Stores, sender, now), sender: sender}
}

// Grown must be called when a commit has added to the audit log.
func (s *Webhooks) Grown() { s.hooks.Grown() }

// Changed must be called when a webhook, or something it depends on, may have changed.
func (s *Webhooks) Changed() { s.hooks.Changed() }

// Close stops the background work.
func (s *Webhooks) Close() { s.hooks.Close() }

// Webhooks have no entity tags, because their position and state change without a request.
//
// The admins of a dataspace manage its webhooks. Sysadmins manage all webhooks, including those for
// the whole service.

// rotationAge is how long messages are also signed with the former secret.
const rotationAge = metadata.Stamp(24 * time.Hour / time.Microsecond)

// WebhookFields are the changeable fields of a webhook. A nil field keeps its value.
type WebhookFields struct {
	URL, Label *string
	Events     []string // patterns; empty: all events
	core.Input
}

// NewWebhook describes a webhook to create. Its URL is required.
type NewWebhook struct {
	DataspaceID *string // nil for all changes of the service
	WebhookFields
}

// apply validates the fields and sets them in a webhook.
func (f WebhookFields) apply(w *metadata.Webhook) error {
	return cmp.Or(
		f.applyEvents(w),
		core.LabelText.Set(&w.Label, "label", f.Label),
		core.TextRule{Min: 1, Max: core.MaxNameBytes, Bytes: true}.Set(&w.URL, "url", f.URL),
		f.Malformed)
}

func (f WebhookFields) applyEvents(w *metadata.Webhook) error {
	if f.Events == nil {
		return nil
	}
	if len(f.Events) > maxEvents {
		return core.Invalid("events", "events may have up to %d entries", maxEvents)
	}
	joined, err := hooks.ParseEvents(f.Events)
	if err != nil {
		return core.Invalid("events", "events: %v", err)
	}
	w.Events = joined
	return nil
}

// maxEvents is the maximum number of patterns of a webhook.
const maxEvents = 50

// EventsOf returns the patterns of a webhook.
func EventsOf(w metadata.Webhook) []string { return append([]string{}, strings.Fields(w.Events)...) }

// manageWebhook checks that the caller may manage the webhooks of a dataspace or, if the id is
// zero, of the whole service.
func manageWebhook(tx *metadata.Tx, p auth.Principal, dataspace metadata.ID) (d metadata.Dataspace, err error) {
	if dataspace == (metadata.ID{}) {
		return d, core.OnlySysadmin(p)
	}
	if d, err = tx.Dataspaces.Get(dataspace); err != nil {
		return d, err
	}
	return d, core.Authorise(tx, p, d, auth.Manage)
}

// managedWebhook looks up a webhook that the caller may manage.
func managedWebhook(tx *metadata.Tx, p auth.Principal, id string) (w metadata.Webhook, err error) {
	w, err = core.ByID(tx.Webhooks.Get, id)
	if w, err = core.OrNotFound(w, err, errs.CodeWebhookNotFound, "webhook", ""); err == nil {
		_, err = manageWebhook(tx, p, w.DataspaceID)
	}
	return w, err
}

// Create creates a webhook, which receives the changes after its creation. No request can
// read its secret later, but a backup contains it.
func (s *Webhooks) Create(ctx context.Context, p auth.Principal, in NewWebhook) (created metadata.Webhook, err error) {
	draft := func(tx *metadata.Tx, p auth.Principal) (err error) {
		created, err = newWebhook(tx, p, in)
		return err
	}
	if err := s.core.View(ctx, p, draft); err != nil {
		return created, err
	}
	if err := s.checkWebhookURL(ctx, created.URL); err != nil {
		return created, err
	}
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := draft(tx, p); err != nil {
			return err
		}
		if err := hooks.Begin(tx, &created); err != nil {
			return err
		}
		created.Record, created.MadeWith, created.Secret = core.NewRecord(tx, p), p.KeyID, webhooks.NewSecret()
		return rows.SaveWebhook(tx, rows.Change{By: p, Action: audit.WebhookCreate}, nil, &created)
	})
	s.hooks.Changed()
	return created, err
}

// newWebhook validates a new webhook.
func newWebhook(tx *metadata.Tx, p auth.Principal, in NewWebhook) (w metadata.Webhook, err error) {
	if in.DataspaceID != nil {
		d, err := core.LookupDataspace(tx, *in.DataspaceID, "dataspaceId")
		if err != nil {
			return w, err
		}
		w.DataspaceID = d.ID
	}
	d, err := manageWebhook(tx, p, w.DataspaceID)
	if err != nil {
		return w, err
	}
	if err := in.apply(&w); err != nil {
		return w, err
	}
	if in.URL == nil {
		return w, core.Missing("url", "url is required")
	}
	if d.State == metadata.Deleted {
		return w, core.ParentDeleted("dataspaceId", "dataspace")
	}
	all, err := rows.Collect(tx.Webhooks.All(metadata.ID{}), hooks.MaxWebhooks)
	if err == nil && len(all) == hooks.MaxWebhooks {
		err = core.Conflict(errs.CodeTooManyWebhooks, "", "a service has at most %d webhooks; remove one first", hooks.MaxWebhooks)
	}
	return w, err
}

// checkWebhookURL rejects a URL that no message can be sent to.
func (s *Webhooks) checkWebhookURL(ctx context.Context, url string) error {
	if err := s.sender.CheckURL(ctx, url); err != nil {
		return core.Invalid("url", "url: %v", err)
	}
	return nil
}

// List returns the webhooks that the caller may manage, ordered by id.
func (s *Webhooks) List(ctx context.Context, p auth.Principal) (list []metadata.Webhook, err error) {
	err = s.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if err := core.Unlimited(p); err != nil {
			return err
		}
		list = []metadata.Webhook{}
		for w, err := range tx.Webhooks.All(metadata.ID{}) {
			if err != nil {
				return err
			}
			_, err = manageWebhook(tx, p, w.DataspaceID)
			if refusal, is := errors.AsType[*errs.Error](err); is && refusal.Kind == errs.Forbidden {
				continue
			}
			if err != nil {
				return err
			}
			list = append(list, w)
		}
		return nil
	})
	return list, err
}

// Get returns one webhook.
func (s *Webhooks) Get(ctx context.Context, p auth.Principal, id string) (w metadata.Webhook, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		w, err = managedWebhook(tx, p, id)
		return err
	})
	return w, err
}

// Update changes the URL, events or label. The webhook then acts for the caller.
func (s *Webhooks) Update(ctx context.Context, p auth.Principal, id string, f WebhookFields, match core.Match) (updated metadata.Webhook, err error) {
	changed := false
	draft := func(tx *metadata.Tx, p auth.Principal) (before metadata.Webhook, err error) {
		if before, err = managedWebhook(tx, p, id); err != nil {
			return before, err
		}
		updated = before
		err = cmp.Or(f.apply(&updated), match.Check(before.Tag(), before.Modified))
		changed = updated != before
		return before, err
	}
	var url string
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, err := draft(tx, p)
		url = before.URL
		return err
	})
	if err == nil && updated.URL != url {
		err = s.checkWebhookURL(ctx, updated.URL)
	}
	if err != nil {
		return updated, err
	}
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		before, err := draft(tx, p)
		if err != nil || !changed {
			return err
		}
		if updated.URL != before.URL || updated.Events != before.Events { // earlier failures do not concern the new values
			updated.Tries, updated.NextTry = 0, 0
		}
		return s.saveWebhook(tx, p, audit.WebhookUpdate, before, &updated)
	})
	s.hooks.Changed()
	return updated, err
}

// saveWebhook stores a webhook that the caller has changed. The webhook then acts for the caller.
func (s *Webhooks) saveWebhook(tx *metadata.Tx, p auth.Principal, action audit.Action, before metadata.Webhook, after *metadata.Webhook) error {
	after.Modified, after.ModifiedBy, after.MadeWith = tx.Stamp(), p.UserID, p.KeyID
	return rows.SaveWebhook(tx, rows.Change{By: p, Action: action}, &before, after)
}

func (s *Webhooks) changeWebhook(ctx context.Context, p auth.Principal, id string, action audit.Action, change func(*metadata.Tx, *metadata.Webhook) error) (w metadata.Webhook, err error) {
	err = s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		if w, err = managedWebhook(tx, p, id); err != nil {
			return err
		}
		before := w
		if err := change(tx, &w); err != nil || w == before {
			return err
		}
		return s.saveWebhook(tx, p, action, before, &w)
	})
	s.hooks.Changed()
	return w, err
}

// Delete permanently removes a webhook and its deliveries.
func (s *Webhooks) Delete(ctx context.Context, p auth.Principal, id string) error {
	err := s.core.Update(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		w, err := managedWebhook(tx, p, id)
		if err != nil {
			return err
		}
		return rows.RemoveWebhook(tx, rows.Change{By: p, Action: audit.WebhookDelete}, w)
	})
	s.hooks.Changed()
	return err
}

// Rotate gives a webhook a new secret, which no request can read later. For a day, messages
// are also signed with the former secret.
func (s *Webhooks) Rotate(ctx context.Context, p auth.Principal, id string) (metadata.Webhook, error) {
	return s.changeWebhook(ctx, p, id, audit.WebhookRotate, func(_ *metadata.Tx, w *metadata.Webhook) error {
		w.FormerSecret, w.FormerUntil = w.Secret, s.core.Now()+rotationAge
		w.Secret = webhooks.NewSecret()
		return nil
	})
}

// Resume resumes a paused webhook where it stopped. The webhook then acts for the caller. If
// a retry is pending, it happens now.
func (s *Webhooks) Resume(ctx context.Context, p auth.Principal, id string) (metadata.Webhook, error) {
	return s.changeWebhook(ctx, p, id, audit.WebhookResume, func(_ *metadata.Tx, w *metadata.Webhook) error {
		if w.Paused != 0 || w.NextTry != 0 {
			w.Paused, w.PauseReason, w.PausedBecause, w.Tries, w.NextTry = 0, metadata.NotPaused, "", 0, 0
		}
		return nil
	})
}

// Skip says which messages a webhook skips.
type Skip struct {
	All bool // everything up to now; otherwise only the failed message
	core.Input
}

// Skip skips the failed message, or everything up to now. A paused webhook stays paused.
func (s *Webhooks) Skip(ctx context.Context, p auth.Principal, id string, skip Skip) (metadata.Webhook, error) {
	return s.changeWebhook(ctx, p, id, audit.WebhookSkip, func(tx *metadata.Tx, w *metadata.Webhook) error {
		if skip.Malformed != nil {
			return skip.Malformed
		}
		err := hooks.Skip(tx, w, skip.All)
		if errors.Is(err, hooks.ErrNothingToSkip) {
			return core.Conflict(errs.CodeNothingToSkip, "", "%v", err)
		}
		return err
	})
}

// ListDeliveries returns the stored deliveries of a webhook, newest first.
func (s *Webhooks) ListDeliveries(ctx context.Context, p auth.Principal, id string) (list []metadata.Delivery, err error) {
	err = s.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		w, err := managedWebhook(tx, p, id)
		if err != nil {
			return err
		}
		list, err = rows.Collect(tx.Deliveries.Before(metadata.DeliveryKey{Webhook: w.ID, Number: w.Deliveries + 1}), metadata.MaxDeliveries)
		return err
	})
	return slices.Clip(list), err
}

// RepeatDelivery sends the message of a delivery again and returns the result. number is the number
// of the delivery. It waits for the receiver, up to 15 seconds.
func (s *Webhooks) RepeatDelivery(ctx context.Context, p auth.Principal, id, number string) (d metadata.Delivery, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		w, err := managedWebhook(tx, p, id)
		if err != nil {
			return err
		}
		n, malformed := strconv.ParseUint(number, 10, 64)
		if d, err = tx.Deliveries.Get(metadata.DeliveryKey{Webhook: w.ID, Number: n}); malformed != nil || fmt.Sprint(n) != number {
			err = metadata.ErrNotFound
		}
		return deliveryNotFound(err)
	})
	if err != nil {
		return d, err
	}
	d, err = s.hooks.Repeat(ctx, d.Key())
	return d, deliveryNotFound(err)
}

func deliveryNotFound(err error) error {
	if errors.Is(err, metadata.ErrNotFound) {
		return &errs.Error{Kind: errs.NotFound, Code: errs.CodeDeliveryNotFound, Message: fmt.Sprintf("there is no delivery with this number; the last %d are kept", metadata.MaxDeliveries)}
	}
	return err
}
