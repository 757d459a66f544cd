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
	maxScanned  = 4096        // entries that one read transaction looks at
	maxMessages = 64          // that it makes
	maxBatch    = time.Second // after which what was sent is committed
	maxPassed   = 1024        // entries of no interest after which the position is committed
	longestWait = 36 * time.Hour
	lookAfter   = 10 * time.Second // whatever it waits for, where other nodes change the row of the webhook
)

// runner sends the messages of one webhook.
type runner struct {
	hooks   *Hooks
	id      metadata.ID
	worker  *background.Worker
	waiting atomic.Bool // for its next try: that the log has grown is no news

	passed place  // beyond the committed position are no messages up to here
	done   report // what is not committed yet
}

// report is what came of a batch: the answers, and how far the log was looked at.
type report struct {
	from    uint64 // the committed position
	answers []answered
	passed  place
}

// answered is a message with the answer.
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

// run sends what is due. A report that could not be committed is committed before anything else is
// sent.
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
		if r.hooks.stores.Node.Shared() { // another node may repeat the message, of which the log has nothing
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

// batch is what is due.
type batch struct {
	hook     metadata.Webhook
	paused   bool // or there is no such webhook any more
	barred   bool // its user may not have it any more, or its key has ended
	wait     time.Duration
	messages []message
	passed   place // what was looked at
	more     bool  // there are entries beyond
}

// load reads what is due, of what no power cut takes back.
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
		if b.hook.NextTry != 0 && wait > 0 && wait < longestWait { // a longer one is that of a clock that was set back
			b.wait = wait
			return nil
		}
		return r.scan(tx, &b)
	})
	return b, err
}

// scan makes the messages of the next entries.
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

// messageFor returns the message about the entry at a place; without a body where the webhook does
// not hear of it.
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

// send sends messages in their order, up to the first that is not taken, and notes the answers.
// What was cut off by the end of ctx has none. Before each one it asks whether the webhook may
// still send.
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

// maySend reports whether the webhook is there, is not paused, and has its rights.
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
	return may && err == nil // an error shows again when the next batch is read
}

// commit writes down what is not committed yet. It goes on when ctx has ended, so that what was
// sent is not sent again at the next start.
func (r *runner) commit(ctx context.Context) error {
	if r.done.passed == (place{}) {
		return nil
	}
	var end place
	err := r.hooks.stores.UpdateBackground(context.WithoutCancel(ctx), func(tx *metadata.Tx) error {
		hook, err := tx.Webhooks.Get(r.id)
		if errors.Is(err, metadata.ErrNotFound) || err == nil && hook.Position != r.done.from {
			end = place{}
			return nil // it was removed, or moved by hand meanwhile
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

// end is up to where no message is left.
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

// apply brings the rows in line with a report.
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
			pauseFor(&hook, now, metadata.PausedByReceiver, "the receiver answered 410: it wants no message any more")
		case !again:
			pauseFor(&hook, now, metadata.PausedByFailure, describe(a.Answer))
		default:
			hook.NextTry = now + metadata.Stamp(pause/time.Microsecond)
		}
	}
	if len(done.answers) == 0 {
		if done.passed.position > hook.Position { // over a message that failed, if one did
			hook.Tries, hook.NextTry = 0, 0
		}
		hook.Position, hook.Epoch = done.passed.position, done.passed.epoch
	}
	if hook.Paused == before.Paused {
		return tx.Webhooks.Put(hook)
	}
	return rows.SaveWebhook(tx, rows.Change{Action: audit.WebhookPause}, &before, &hook)
}

// deliverNext moves a webhook behind a delivery that is done.
func deliverNext(hook *metadata.Webhook, to place) {
	hook.Position, hook.Epoch = to.position, to.epoch
	hook.Deliveries++
	hook.Tries, hook.NextTry = 0, 0
}

// pauseFor pauses a webhook, unless it is paused already.
func pauseFor(hook *metadata.Webhook, now metadata.Stamp, reason metadata.PauseReason, why string) {
	if hook.Paused == 0 {
		hook.Paused, hook.PauseReason, hook.PausedBecause, hook.NextTry = now, reason, why, 0
	}
}

// barred returns why a webhook may not send any more; NotPaused: it may. Its user must be allowed
// to make it now, and its key must be active.
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

// because says for people why a webhook pauses that may not send any more.
var because = map[metadata.PauseReason]string{
	metadata.PausedWithRole: "the user for whom it acts may not have it any more",
	metadata.PausedWithKey:  "the key that it was made with has ended",
}

// Pause pauses a webhook, unless it is paused already, with its role or with its key.
func Pause(hook *metadata.Webhook, now metadata.Stamp, reason metadata.PauseReason) {
	pauseFor(hook, now, reason, because[reason])
}

// pause pauses the webhook because of the rights of its user, or of its key.
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
