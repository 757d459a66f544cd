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

// Webhooks are the webhooks of a repository. It is safe for concurrent use.
type Webhooks struct {
	core   *core.Core
	hooks  *hooks.Hooks
	sender hooks.Sender
}

// StartWebhooks returns the webhooks of a repository, and sends their messages by sender. The
// caller closes them before the Core.
func StartWebhooks(core *core.Core, sender hooks.Sender, now func() time.Time) *Webhooks {
	return &Webhooks{core: core, hooks: hooks.Start(core.Stores, sender, now), sender: sender}
}

// Grown is called when a commit has added to the audit log.
func (s *Webhooks) Grown() { s.hooks.Grown() }

// Changed is called when a webhook, or what it depends on, may have changed.
func (s *Webhooks) Changed() { s.hooks.Changed() }

// Close stops what runs in the background.
func (s *Webhooks) Close() { s.hooks.Close() }

// A webhook has no entity tag: its position and its state change by themselves.
//
// The admins of a dataspace have its webhooks; those of the whole service are for sysadmins, who
// may use all.

// rotationAge is how long messages are signed by the former secret, too.
const rotationAge = metadata.Stamp(24 * time.Hour / time.Microsecond)

// WebhookFields are the fields of a webhook that can be changed. A nil field stays as it is.
type WebhookFields struct {
	URL, Label *string
	Events     []string // patterns; empty: all events
	core.Input
}

// NewWebhook is a webhook to be created; it must have a URL.
type NewWebhook struct {
	DataspaceID *string // nil: the webhook receives all changes of the service
	WebhookFields
}

// apply checks the fields and stores them in a webhook.
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

// maxEvents is how many patterns a webhook has at most.
const maxEvents = 50

// EventsOf returns the patterns of a webhook.
func EventsOf(w metadata.Webhook) []string { return append([]string{}, strings.Fields(w.Events)...) }

// manageWebhook authorises a caller for the webhooks of a dataspace, or, where the id is zero, of
// the whole service.
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

// CreateWebhook creates a webhook, which receives the changes after its creation. Nothing can show
// its secret again, but a backup holds it.
func (s *Webhooks) CreateWebhook(ctx context.Context, p auth.Principal, in NewWebhook) (created metadata.Webhook, err error) {
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

// newWebhook checks a new webhook.
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
		err = core.Conflict(errs.CodeTooManyWebhooks, "", "a service has %d webhooks at most; remove one first", hooks.MaxWebhooks)
	}
	return w, err
}

// checkWebhookURL refuses a URL to which no message could go.
func (s *Webhooks) checkWebhookURL(ctx context.Context, url string) error {
	if err := s.sender.CheckURL(ctx, url); err != nil {
		return core.Invalid("url", "url: %v", err)
	}
	return nil
}

// ListWebhooks returns the webhooks that the caller may manage, by id.
func (s *Webhooks) ListWebhooks(ctx context.Context, p auth.Principal) (list []metadata.Webhook, err error) {
	err = s.core.ViewDurable(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
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

// GetWebhook returns one webhook.
func (s *Webhooks) GetWebhook(ctx context.Context, p auth.Principal, id string) (w metadata.Webhook, err error) {
	err = s.core.View(ctx, p, func(tx *metadata.Tx, p auth.Principal) error {
		w, err = managedWebhook(tx, p, id)
		return err
	})
	return w, err
}

// UpdateWebhook changes url, events or label. The webhook acts for the caller from then on.
func (s *Webhooks) UpdateWebhook(ctx context.Context, p auth.Principal, id string, f WebhookFields, match core.Match) (updated metadata.Webhook, err error) {
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
		if updated.URL != before.URL || updated.Events != before.Events { // what failed before says nothing of them
			updated.Tries, updated.NextTry = 0, 0
		}
		return s.saveWebhook(tx, p, audit.WebhookUpdate, before, &updated)
	})
	s.hooks.Changed()
	return updated, err
}

// saveWebhook stores a webhook that the caller has changed, and for whom it acts from now on.
func (s *Webhooks) saveWebhook(tx *metadata.Tx, p auth.Principal, action audit.Action, before metadata.Webhook, after *metadata.Webhook) error {
	after.Modified, after.ModifiedBy, after.MadeWith = tx.Stamp(), p.UserID, p.KeyID
	return rows.SaveWebhook(tx, rows.Change{By: p, Action: action}, &before, after)
}

// changeWebhook changes one webhook.
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

// DeleteWebhook removes a webhook and its deliveries for good.
func (s *Webhooks) DeleteWebhook(ctx context.Context, p auth.Principal, id string) error {
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

// RotateWebhook gives a webhook another secret, which nothing can show again. For a day messages
// are signed by the former one, too.
func (s *Webhooks) RotateWebhook(ctx context.Context, p auth.Principal, id string) (metadata.Webhook, error) {
	return s.changeWebhook(ctx, p, id, audit.WebhookRotate, func(_ *metadata.Tx, w *metadata.Webhook) error {
		w.FormerSecret, w.FormerUntil = w.Secret, s.core.Now()+rotationAge
		w.Secret = webhooks.NewSecret()
		return nil
	})
}

// ResumeWebhook lets a webhook that is paused send again, from where it stopped, for the caller.
// One that waits for its next try makes it now.
func (s *Webhooks) ResumeWebhook(ctx context.Context, p auth.Principal, id string) (metadata.Webhook, error) {
	return s.changeWebhook(ctx, p, id, audit.WebhookResume, func(_ *metadata.Tx, w *metadata.Webhook) error {
		if w.Paused != 0 || w.NextTry != 0 {
			w.Paused, w.PauseReason, w.PausedBecause, w.Tries, w.NextTry = 0, metadata.NotPaused, "", 0, 0
		}
		return nil
	})
}

// Skip is what a webhook passes over.
type Skip struct {
	All bool // everything up to now; else the message that failed
	core.Input
}

// SkipWebhook lets a webhook pass over the message that failed, or over everything up to now. A
// paused webhook stays paused.
func (s *Webhooks) SkipWebhook(ctx context.Context, p auth.Principal, id string, skip Skip) (metadata.Webhook, error) {
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

// ListDeliveries returns the deliveries of a webhook that are kept, the newest first.
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

// RepeatDelivery sends the message of a delivery, by its number, once more, and returns what came
// of it. It takes as long as the receiver, up to 15 seconds.
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
