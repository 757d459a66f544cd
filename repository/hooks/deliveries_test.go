package hooks_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/blobs/blobstest"
	"labshelf/errs"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/repository"
	"labshelf/repository/repositorytest"
)

func TestSkipAndRepeat(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		ctx := t.Context()
		w.to.answers["https://a"] = always(500)
		hook := w.hook("https://a", nil)
		id := hook.ID.String()
		_, err := w.Service.SkipWebhook(ctx, w.Admin, id, nil)
		w.Refused(err, errs.CodeNothingToSkip)
		for i := range 4 {
			w.Upload(w.Sets[0], fmt.Sprint(i))
		}
		synctest.Wait()
		_, err = w.Service.SkipWebhook(ctx, w.Admin, id, nil)
		w.OK(err)
		synctest.Wait()
		messages := w.to.at("https://a")
		if len(messages) != 2 || messages[0].ID == messages[1].ID {
			t.Fatalf("it has sent %d messages", len(messages))
		}
		w.to.mu.Lock()
		w.to.answers["https://a"] = always(200)
		w.to.mu.Unlock()
		first, err := w.Service.RepeatDelivery(ctx, w.Admin, id, "0") // which was passed over: the second still waits
		w.OK(err)
		synctest.Wait()
		if messages = w.to.at("https://a"); len(messages) != 3 || messages[2].ID != messages[0].ID || !first.Delivered() || !first.Skipped || first.Tries != 2 {
			t.Errorf("%d messages; the delivery is %+v", len(messages), first)
		}
		_, err = w.Service.RepeatDelivery(ctx, w.Admin, id, "1") // which the hook waits with: it goes on behind it
		w.OK(err)
		synctest.Wait()
		if n := len(w.to.at("https://a")); n != 6 || w.now(hook).Deliveries != 4 {
			t.Errorf("%d messages, %d deliveries", n, w.now(hook).Deliveries)
		}
		for _, number := range []string{"4", "01", "-1", "x"} {
			_, err = w.Service.RepeatDelivery(ctx, w.Admin, id, number)
			w.Refused(err, errs.CodeDeliveryNotFound)
		}
		w.to.mu.Lock()
		w.to.answers["https://a"] = always(500)
		w.to.mu.Unlock()
		w.Upload(w.Sets[0], "5")
		w.Upload(w.Sets[0], "6")
		synctest.Wait()
		_, err = w.Service.SkipWebhook(ctx, w.Admin, id, repository.Fields{"all": true})
		w.OK(err)
		time.Sleep(100 * time.Hour)
		if n := len(w.to.at("https://a")); n != 7 {
			t.Errorf("%d messages after all were passed over, want 7", n)
		}
	})
}

// TestFailingStore: what was sent while its commit failed is committed later, and not sent again.
func TestFailingStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		meta := &failing{Memory: metadatatest.NewMemory(time.Now)}
		to := newReceivers()
		svc := repository.New(meta, blobstest.NewMemory(), repository.Config{PageSize: 10, DirectoryPageSize: 10, Webhooks: to})
		defer svc.Close()
		w := &world{World: repositorytest.NewWorld(t, svc, 0), meta: meta.Memory, to: to}
		hook := w.hook("https://a", nil)
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

// failing is a store whose background changes fail at times.
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
