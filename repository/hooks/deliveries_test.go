package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/auth/errs"
	"labshelf/blobs/blobstest"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/repositorytest"
	"labshelf/repository/watch"
)

func TestSkipAndRepeat(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.to.answers["https://a"] = always(500)
		hook := w.hook("https://a")
		id := hook.ID.String()
		_, err := w.Service.Webhooks.Skip(ctx, w.Admin, id, watch.Skip{})
		w.Refused(err, errs.CodeNothingToSkip)
		for i := range 4 {
			w.Upload(w.Sets[0], fmt.Sprint(i))
		}
		synctest.Wait()
		_, err = w.Service.Webhooks.Skip(ctx, w.Admin, id, watch.Skip{})
		w.OK(err)
		synctest.Wait()
		messages := w.to.at("https://a")
		if len(messages) != 2 || messages[0].ID == messages[1].ID {
			t.Fatalf("it has sent %d messages", len(messages))
		}
		w.to.mu.Lock()
		w.to.answers["https://a"] = always(200)
		w.to.mu.Unlock()
		first, err := w.Service.Webhooks.RepeatDelivery(ctx, w.Admin, id, "0") // skipped: the second message still waits
		w.OK(err)
		synctest.Wait()
		if messages = w.to.at("https://a"); len(messages) != 3 || messages[2].ID != messages[0].ID || !first.Delivered() || !first.Skipped || first.Tries != 2 {
			t.Errorf("received %d messages; the delivery is %+v", len(messages), first)
		}
		_, err = w.Service.Webhooks.RepeatDelivery(ctx, w.Admin, id, "1") // the waiting message: the hook continues after it
		w.OK(err)
		synctest.Wait()
		if n := len(w.to.at("https://a")); n != 6 || w.now(hook).Deliveries != 4 {
			t.Errorf("%d messages, %d deliveries", n, w.now(hook).Deliveries)
		}
		for _, number := range []string{"4", "01", "-1", "x"} {
			_, err = w.Service.Webhooks.RepeatDelivery(ctx, w.Admin, id, number)
			w.Refused(err, errs.CodeDeliveryNotFound)
		}
		w.to.mu.Lock()
		w.to.answers["https://a"] = always(500)
		w.to.mu.Unlock()
		w.Upload(w.Sets[0], "5")
		w.Upload(w.Sets[0], "6")
		synctest.Wait()
		_, err = w.Service.Webhooks.Skip(ctx, w.Admin, id, watch.Skip{All: true})
		w.OK(err)
		time.Sleep(100 * time.Hour)
		if n := len(w.to.at("https://a")); n != 7 {
			t.Errorf("received %d messages after all were skipped, want 7", n)
		}
	})
}

// TestSkipNeverMovesBack: if the webhook has moved past a failed message because its patterns have
// changed, the message cannot be skipped. Repeating the message does not move the webhook.
func TestSkipNeverMovesBack(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.to.answers["https://a"] = always(500)
		hook := w.hook("https://a")
		id := hook.ID.String()
		w.Upload(w.Sets[0], "first")
		synctest.Wait()
		if got := w.now(hook); got.Tries != 1 || got.NextTry == 0 {
			t.Fatalf("after a failure: %+v", got)
		}
		_, err := w.Service.Webhooks.Update(ctx, w.Admin, id, watch.WebhookFields{Events: []string{"user.create"}}, core.Match{})
		w.OK(err)
		if got := w.now(hook); got.Tries != 0 || got.NextTry != 0 {
			t.Errorf("it waits, although its patterns have changed: %+v", got)
		}
		for i := range 1100 { // the position is stored after 1,024 entries
			w.Upload(w.Sets[0], fmt.Sprint(i))
		}
		synctest.Wait()
		before := w.now(hook).Position
		_, err = w.Service.Webhooks.Skip(ctx, w.Admin, id, watch.Skip{})
		w.Refused(err, errs.CodeNothingToSkip)
		w.to.mu.Lock()
		w.to.answers["https://a"] = always(200)
		w.to.mu.Unlock()
		_, err = w.Service.Webhooks.RepeatDelivery(ctx, w.Admin, id, "0")
		w.OK(err)
		if after := w.now(hook).Position; after < before || before < 1024 {
			t.Errorf("the position was %d, and now is %d", before, after)
		}
	})
}

// TestResumeWaitingWebhook: resuming a webhook that waits for its next try makes it try
// immediately.
func TestResumeWaitingWebhook(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.to.answers["https://a"] = always(500)
		hook := w.hook("https://a")
		w.Upload(w.Sets[0], "a")
		synctest.Wait()
		tries := len(w.to.at("https://a"))
		_, err := w.Service.Webhooks.Resume(t.Context(), w.Admin, hook.ID.String())
		w.OK(err)
		synctest.Wait()
		if n := len(w.to.at("https://a")); n <= tries {
			t.Errorf("%d tries, as before", n)
		}
	})
}

// TestFailingStore: results whose commit failed are committed later, and their messages are not
// sent again.
func TestFailingStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		meta := &failing{Memory: metadatatest.NewMemory(time.Now)}
		to := newReceivers()
		svc := repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10, Webhooks: to})
		defer svc.Close()
		w := &world{World: repositorytest.NewWorld(t, svc, 0), meta: meta.Memory, to: to}
		hook := w.hook("https://a")
		meta.fails.Lock()
		meta.failing = true
		meta.fails.Unlock()
		w.Upload(w.Sets[0], "1")
		synctest.Wait()
		time.Sleep(time.Minute)
		meta.fails.Lock()
		meta.failing = false
		meta.fails.Unlock()
		time.Sleep(time.Minute)
		w.Upload(w.Sets[0], "2")
		synctest.Wait()
		if n := len(to.at("https://a")); n != 2 || w.now(hook).Deliveries != 2 {
			t.Errorf("%d messages; the webhook is %+v", n, w.now(hook))
		}
	})
}

// failing is a store whose background changes fail while it is set so.
type failing struct {
	*metadatatest.Memory
	fails   sync.Mutex
	failing bool
}

func (f *failing) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	f.fails.Lock()
	defer f.fails.Unlock()
	if f.failing {
		return errors.Join(metadata.ErrNoSpace)
	}
	return f.Memory.UpdateBackground(ctx, fn)
}
