package hooks

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"labshelf/auth/errs"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/repository/internal/background"
	"labshelf/repository/internal/rows"
	"labshelf/repository/webhooks"
)

const (
	maxScanned  = 4096        // maximum entries that one read transaction examines
	maxMessages = 64          // maximum messages from one read transaction
	maxBatch    = time.Second // after which the results of sent messages are committed
	maxPassed   = 1024        // entries without a message after which the position is committed
	longestWait = 36 * time.Hour
	lookAfter   = 10 * time.Second // maximum wait if other nodes may change the row of the webhook
)

// runner sends the messages of one webhook.
type runner struct {
	hooks   *Hooks
	id      metadata.ID
	worker  *background.Worker
	waiting atomic.Bool // for the next try; growth of the log does not matter then

	passed place  // no messages between the committed position and this place
	done   report // results that are not committed yet
}

// report is the result of a batch: the responses, and the place up to which the log was examined.
type report struct {
	from    uint64 // the committed position
	answers []answered
	passed  place
}

// answered is a message with its response.
type answered struct {
	message
	webhooks.Answer
	at metadata.Stamp
}

func startRunner(h *Hooks, id metadata.ID) *runner {
	r := &runner{hooks: h, id: id}
	r.worker = h.stores.Node.Work(background.Next{}, r.run)
	return r
}

// run sends the messages that are due. It first commits results that could not be committed
// earlier.
func (r *runner) run(ctx context.Context) background.Next {
	r.waiting.Store(false)
	next, err := r.batch(ctx)
	r.hooks.stores.Background.Report(background.TaskWebhooks, err)
	if err != nil {
		return background.Backoff(retryAfter)
	}
	return next
}

func (r *runner) batch(ctx context.Context) (background.Next, error) {
	if err := r.commit(ctx); err != nil {
		return background.Idle(), err
	}
	b, err := r.load(ctx)
	switch {
	case err != nil, b.paused:
		return background.Idle(), err
	case b.barred:
		return background.Idle(), r.pause(ctx)
	case b.wait > 0:
		r.waiting.Store(true)
		if r.hooks.stores.Node.Shared() { // another node may repeat the message
			b.wait = min(b.wait, lookAfter)
		}
		return background.After(b.wait), nil
	}
	r.done = report{from: b.hook.Position, passed: b.passed}
	r.send(ctx, b)
	if len(r.done.answers) > 0 || b.passed.position-b.hook.Position >= maxPassed {
		return background.Next{}, r.commit(ctx)
	}
	r.passed, r.done = b.passed, report{}
	if b.more && ctx.Err() == nil {
		return background.Next{}, nil
	}
	return background.Idle(), nil
}

// batch is the work that is due.
type batch struct {
	hook     metadata.Webhook
	paused   bool // or the webhook no longer exists
	barred   bool // its user may no longer have it, or its key has ended
	wait     time.Duration
	messages []message
	passed   place // place up to which the log was examined
	more     bool  // more entries follow
}

// load reads the work that is due, from data on stable storage only.
func (r *runner) load(ctx context.Context) (b batch, err error) {
	err = r.hooks.stores.Meta.ViewDurable(ctx, func(tx *metadata.Tx) error {
		b = batch{}
		if b.hook, err = tx.Webhooks.Get(r.id); errors.Is(err, metadata.ErrNotFound) {
			b.paused = true
			return nil
		}
		if err != nil || b.hook.Paused != 0 {
			b.paused = true
			return err
		}
		reason, err := r.hooks.barred(tx, b.hook)
		if err != nil || reason != metadata.NotPaused {
			b.barred = true
			return err
		}
		wait := time.Duration(b.hook.NextTry-stampOf(r.hooks.now())) * time.Microsecond
		if b.hook.NextTry != 0 && wait > 0 && wait < longestWait { // a longer wait means that the clock was set back
			b.wait = wait
			return nil
		}
		return r.scan(tx, &b)
	})
	return b, err
}

// scan builds the messages of the next entries.
func (r *runner) scan(tx *metadata.Tx, b *batch) error {
	log, err := tx.Audit.State()
	if err != nil {
		return err
	}
	b.passed = place{b.hook.Position, b.hook.Epoch}
	if r.passed.position > b.passed.position && r.passed.position <= log.Size {
		b.passed = r.passed
	}
	last := min(log.Size, b.passed.position+maxScanned)
	for b.passed.position < last && len(b.messages) < maxMessages {
		m, err := r.hooks.messageFor(tx, b.hook, b.passed)
		if err != nil {
			return err
		}
		if b.passed = m.place; m.body != nil {
			b.messages = append(b.messages, m)
		}
	}
	b.more = b.passed.position < log.Size
	return nil
}

// messageFor returns the message about the entry at a place. It has no body if the webhook does not
// receive this kind of event.
func (h *Hooks) messageFor(tx *metadata.Tx, hook metadata.Webhook, at place) (m message, err error) {
	e, epoch, err := rows.ReadEntry(tx, at.position, at.epoch)
	if m.place = (place{at.position + 1, epoch}); err != nil || e.Action.String() == "" || !hears(hook.Events, e.Action.String()) {
		return m, err
	}
	in, err := rows.ContainersOf(tx, e)
	if err != nil || hook.DataspaceID != (metadata.ID{}) && hook.DataspaceID != in.Dataspace {
		return m, err
	}
	return h.compose(tx, at.position, e, in, epoch)
}

// send sends messages in order, up to the first one that is not accepted, and records the
// responses. A message that the end of ctx has interrupted gets no response. Before each message
// after the first, send checks whether the webhook may still send.
func (r *runner) send(ctx context.Context, b batch) {
	begun := time.Now()
	for n, m := range b.messages {
		if n > 0 && !r.maySend(ctx) {
			return
		}
		a := answered{message: m, at: stampOf(r.hooks.now())}
		a.Answer = r.hooks.sender.Send(ctx, webhooks.Message{URL: b.hook.URL, ID: m.id, Secrets: secretsOf(b.hook, a.at), Body: m.body})
		if ctx.Err() != nil && !a.Delivered() {
			return
		}
		if r.done.answers = append(r.done.answers, a); !a.Delivered() || time.Since(begun) > maxBatch {
			return
		}
	}
}

// maySend reports whether the webhook exists, is not paused, and still has its rights.
func (r *runner) maySend(ctx context.Context) (may bool) {
	err := r.hooks.stores.View(ctx, func(tx *metadata.Tx) error {
		hook, err := tx.Webhooks.Get(r.id)
		if err != nil || hook.Paused != 0 {
			return err
		}
		reason, err := r.hooks.barred(tx, hook)
		may = err == nil && reason == metadata.NotPaused
		return err
	})
	return may && err == nil // an error occurs again when the next batch is read
}

// commit writes the results that are not committed yet. It does so even if ctx has ended, so that
// sent messages are not sent again at the next start.
func (r *runner) commit(ctx context.Context) error {
	if r.done.passed == (place{}) {
		return nil
	}
	var end place
	err := r.hooks.stores.UpdateBackground(context.WithoutCancel(ctx), func(tx *metadata.Tx) error {
		hook, err := tx.Webhooks.Get(r.id)
		if errors.Is(err, metadata.ErrNotFound) || err == nil && hook.Position != r.done.from {
			end = place{}
			return nil // the webhook was removed, or moved by a request
		}
		if err != nil {
			return err
		}
		end = r.done.end()
		return r.done.apply(tx, hook, stampOf(r.hooks.now()))
	})
	if err != nil {
		return err
	}
	r.passed, r.done = end, report{}
	return nil
}

// end returns the place before which no message is left to send, or the zero place if a message has
// failed.
func (done report) end() place {
	for _, a := range done.answers {
		if !a.Delivered() {
			return place{}
		}
	}
	if n := len(done.answers); n > 0 {
		return done.answers[n-1].place
	}
	return done.passed
}

// apply writes a report to the rows.
func (done report) apply(tx *metadata.Tx, hook metadata.Webhook, now metadata.Stamp) error {
	before := hook
	for _, a := range done.answers {
		if err := keepDelivery(tx, hook, a); err != nil {
			return err
		}
		if a.Delivered() {
			deliverNext(&hook, a.place)
			continue
		}
		hook.Tries++
		pause, again := webhooks.Pause(int(hook.Tries), a.Answer)
		switch {
		case a.Gone():
			pauseFor(&hook, now, metadata.PausedByReceiver, "the receiver answered 410 Gone: it wants no more messages")
		case !again:
			pauseFor(&hook, now, metadata.PausedByFailure, describe(a.Answer))
		default:
			hook.NextTry = now + metadata.Stamp(pause/time.Microsecond)
		}
	}
	if len(done.answers) == 0 {
		if done.passed.position > hook.Position { // past a failed message, if any
			hook.Tries, hook.NextTry = 0, 0
		}
		hook.Position, hook.Epoch = done.passed.position, done.passed.epoch
	}
	if hook.Paused == before.Paused {
		return tx.Webhooks.Put(hook)
	}
	return rows.SaveWebhook(tx, rows.Change{Action: audit.WebhookPause}, &before, &hook)
}

// deliverNext moves a webhook past a finished delivery.
func deliverNext(hook *metadata.Webhook, to place) {
	hook.Position, hook.Epoch = to.position, to.epoch
	hook.Deliveries++
	hook.Tries, hook.NextTry = 0, 0
}

// pauseFor pauses a webhook, unless it is already paused.
func pauseFor(hook *metadata.Webhook, now metadata.Stamp, reason metadata.PauseReason, why string) {
	if hook.Paused == 0 {
		hook.Paused, hook.PauseReason, hook.PausedBecause, hook.NextTry = now, reason, why, 0
	}
}

// barred returns why a webhook may no longer send, or NotPaused if it may. Its user must be allowed
// to create it now, and its key must be active.
func (h *Hooks) barred(tx *metadata.Tx, hook metadata.Webhook) (metadata.PauseReason, error) {
	if allowed, err := rows.MayManage(tx, hook.ModifiedBy, hook.DataspaceID); err != nil || !allowed {
		return metadata.PausedWithRole, err
	}
	if hook.MadeWith == (metadata.ID{}) {
		return metadata.NotPaused, nil
	}
	key, err := tx.Keys.Get(hook.ModifiedBy, hook.MadeWith)
	if err == nil && key.StateAt(stampOf(h.now())) != metadata.KeyActive || errors.Is(err, metadata.ErrNotFound) {
		return metadata.PausedWithKey, nil
	}
	return metadata.NotPaused, err
}

// because explains pauses for lost rights to people.
var because = map[metadata.PauseReason]string{
	metadata.PausedWithRole: "its user no longer has the permission for this webhook",
	metadata.PausedWithKey:  "the key that created it has expired or was revoked",
}

// Pause pauses a webhook, unless it is already paused. reason must be PausedWithRole or
// PausedWithKey.
func Pause(hook *metadata.Webhook, now metadata.Stamp, reason metadata.PauseReason) {
	pauseFor(hook, now, reason, because[reason])
}

// pause pauses the webhook because its user has lost the right to it or its key has ended.
func (r *runner) pause(ctx context.Context) error {
	return r.hooks.stores.UpdateBackground(ctx, func(tx *metadata.Tx) error {
		hook, err := tx.Webhooks.Get(r.id)
		if err != nil || hook.Paused != 0 {
			return errs.Ignore(err, metadata.ErrNotFound)
		}
		reason, err := r.hooks.barred(tx, hook)
		if err != nil || reason == metadata.NotPaused {
			return err
		}
		before := hook
		Pause(&hook, stampOf(r.hooks.now()), reason)
		return rows.SaveWebhook(tx, rows.Change{Action: audit.WebhookPause}, &before, &hook)
	})
}
