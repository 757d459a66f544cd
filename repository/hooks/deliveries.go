package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"labshelf/metadata"
	"labshelf/repository/internal/rows"
	"labshelf/repository/internal/storage"
	"labshelf/repository/webhooks"
)

// keepDelivery records a try of the present delivery of a webhook, and removes the oldest delivery
// if there are too many.
func keepDelivery(tx *metadata.Tx, hook metadata.Webhook, a answered) error {
	of := metadata.DeliveryKey{Webhook: hook.ID, Number: hook.Deliveries}
	d, err := tx.Deliveries.Get(of)
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		return err
	}
	if err != nil || d.MessageID != a.id { // a new delivery if the patterns have changed since the last try
		d = metadata.Delivery{WebhookID: hook.ID, Number: of.Number, Entry: a.entry, MessageID: a.id, Event: a.event, First: a.at}
	}
	tried(&d, a.Answer, a.at)
	if err := tx.Deliveries.Put(d); err != nil || of.Number < metadata.MaxDeliveries {
		return err
	}
	return tx.Deliveries.Remove(metadata.DeliveryKey{Webhook: hook.ID, Number: of.Number - metadata.MaxDeliveries})
}

// tried adds a try to a delivery.
func tried(d *metadata.Delivery, a webhooks.Answer, at metadata.Stamp) {
	d.Tries++
	d.Last, d.Status, d.Micros, d.Error, d.Answer = at, int64(a.Status), a.Took.Microseconds(), a.Err, a.Beginning
}

// describe returns the result of the last try, for people.
func describe(a webhooks.Answer) string {
	return fmt.Sprintf("%d attempts failed; the last one %s", webhooks.MaxTries, a)
}

// behind returns the place after the entry of a delivery.
func behind(d metadata.Delivery) (p place, err error) {
	epoch, _, _ := strings.Cut(d.MessageID, ".")
	p.position = d.Entry + 1
	if err = p.epoch.UnmarshalText([]byte(epoch)); err != nil {
		err = errors.Join(metadata.ErrRecordDamaged, err)
	}
	return p, err
}

// ErrNothingToSkip reports that no failed message of a webhook waits for its next try.
var ErrNothingToSkip = errors.New("no message waits for another attempt")

// Skip moves a webhook past the failed message, which stays among its deliveries. With all, it
// moves past everything up to now. It returns ErrNothingToSkip if no message has failed and all is
// false.
func Skip(tx *metadata.Tx, hook *metadata.Webhook, all bool) error {
	d, err := tx.Deliveries.Get(metadata.DeliveryKey{Webhook: hook.ID, Number: hook.Deliveries})
	waits := err == nil && d.Entry >= hook.Position // otherwise it is already skipped
	if err != nil && !errors.Is(err, metadata.ErrNotFound) {
		return err
	}
	if waits {
		to, err := behind(d)
		if err != nil {
			return err
		}
		d.Skipped = true
		deliverNext(hook, to)
		if err := tx.Deliveries.Put(d); err != nil || !all {
			return err
		}
	}
	if !all {
		return ErrNothingToSkip
	}
	return Begin(tx, hook)
}

// Begin moves a webhook to the end of the log, so that it receives only later events.
func Begin(tx *metadata.Tx, hook *metadata.Webhook) error {
	log, err := tx.Audit.State()
	if err != nil {
		return err
	}
	epoch, err := tx.Lineage.Epoch()
	hook.Position, hook.Epoch, hook.Tries, hook.NextTry = log.Size, epoch.ID, 0, 0
	return err
}

// Repeat sends the message of a delivery again, even if the webhook is paused, and returns the
// result. It checks no permissions. If the message is the one that waits for its next try and the
// receiver accepts it, the webhook continues with the next message.
func (h *Hooks) Repeat(ctx context.Context, of metadata.DeliveryKey) (d metadata.Delivery, err error) {
	var hook metadata.Webhook
	var m message
	err = h.stores.View(ctx, func(tx *metadata.Tx) error {
		hook, m, err = h.again(tx, of)
		return err
	})
	if err != nil {
		return d, err
	}
	at := stampOf(h.now())
	answer := h.sender.Send(ctx, webhooks.Message{URL: hook.URL, ID: m.id, Secrets: secretsOf(hook, at), Body: m.body})
	if ctx.Err() != nil && !answer.Delivered() {
		return d, storage.Error(ctx.Err())
	}
	err = h.stores.Update(ctx, func(tx *metadata.Tx) error {
		if d, err = tx.Deliveries.Get(of); err != nil {
			return err
		}
		tried(&d, answer, at)
		if err := tx.Deliveries.Put(d); err != nil || !d.Delivered() {
			return err
		}
		hook, err := tx.Webhooks.Get(of.Webhook)
		if err != nil || hook.Deliveries != of.Number || d.Entry < hook.Position {
			return err
		}
		deliverNext(&hook, m.place)
		return tx.Webhooks.Put(hook)
	})
	h.Changed()
	return d, err
}

// again builds the message of a delivery again.
func (h *Hooks) again(tx *metadata.Tx, of metadata.DeliveryKey) (hook metadata.Webhook, m message, err error) {
	if hook, err = tx.Webhooks.Get(of.Webhook); err != nil {
		return hook, m, err
	}
	d, err := tx.Deliveries.Get(of)
	if err != nil {
		return hook, m, err
	}
	to, err := behind(d)
	if err != nil {
		return hook, m, err
	}
	e, epoch, err := rows.ReadEntry(tx, d.Entry, to.epoch)
	if err != nil {
		return hook, m, err
	}
	in, err := rows.ContainersOf(tx, e)
	if err == nil {
		m, err = h.compose(tx, d.Entry, e, in, epoch)
	}
	return hook, m, err
}
