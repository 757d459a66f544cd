package repository_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"labshelf/blobs/blobstest"
	"labshelf/formats/audit"
	"labshelf/metadata"
	"labshelf/metadata/metadatatest"
	"labshelf/paging"
	"labshelf/repository"
	"labshelf/repository/core"
	"labshelf/repository/repositorytest"
	"labshelf/repository/watch"
	"labshelf/repository/webhooks"
)

// countedLog counts the log entries that read transactions read.
type countedLog struct {
	metadata.AuditLog
	reads *atomic.Int64
}

func (l countedLog) Get(number uint64) (metadata.AuditEntry, error) {
	l.reads.Add(1)
	return l.AuditLog.Get(number)
}

func (l countedLog) Entry(number uint64) (audit.Entry, error) {
	l.reads.Add(1)
	return l.AuditLog.Entry(number)
}

// counted is a store with a counted log.
type counted struct {
	metadata.Store
	reads atomic.Int64
}

func (s *counted) counting(fn func(*metadata.Tx) error) func(*metadata.Tx) error {
	return func(tx *metadata.Tx) error {
		tx.Audit = countedLog{tx.Audit, &s.reads}
		return fn(tx)
	}
}

func (s *counted) View(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Store.View(ctx, s.counting(fn))
}

func (s *counted) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	return s.Store.ViewDurable(ctx, s.counting(fn))
}

// receiver counts messages.
type receiver struct{ messages atomic.Int64 }

func (r *receiver) CheckURL(context.Context, string) error { return nil }

func (r *receiver) Send(context.Context, webhooks.Message) webhooks.Answer {
	r.messages.Add(1)
	return webhooks.Answer{Status: 200}
}

// TestFollowersReadNoEntry: the search, webhooks, event streams and instruments follow the commits
// of this process without reading the log from the store.
func TestFollowersReadNoEntry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		meta, to := &counted{Store: metadatatest.NewMemory(time.Now)}, &receiver{}
		svc := repository.New(meta, blobstest.NewMemory(), repository.Config{
			PageSize: 100, DirectoryPageSize: 100, HoldUpTo: 100, IndexDir: t.TempDir(), Webhooks: to, Instruments: &inProcess{},
		})
		defer svc.Close()
		w := repositorytest.NewWorld(t, svc, 0)
		_, err := svc.Webhooks.Create(ctx, w.Admin, watch.NewWebhook{WebhookFields: watch.WebhookFields{URL: new("https://a")}})
		w.OK(err)
		stream, err := svc.Events.Open(ctx, w.Admin, "")
		w.OK(err)
		defer stream.Close()
		heard := 0
		rest := func() {
			for heardAll := false; !heardAll; { // an empty batch is a heartbeat, which comes after all events
				b, err := stream.Next(ctx)
				w.OK(err)
				heard += len(b.Events)
				heardAll = len(b.Events) == 0
			}
			w.OK(svc.Search.Indexed(ctx))
			w.OK(svc.Descriptions.Filled(ctx))
			synctest.Wait()
		}
		rest()
		heard = 0
		to.messages.Store(0)
		meta.reads.Store(0)
		const files = 10
		for n := range files {
			w.Upload(w.Sets[0], fmt.Sprint("file ", n))
			rest()
		}
		if got := to.messages.Load(); got != files || heard != files {
			t.Errorf("%d messages and %d events, want %d of each", got, heard, files)
		}
		found, err := svc.Search.Search(ctx, w.Admin, core.ListRequest{Selection: paging.Selection{Text: "file"}})
		w.OK(err)
		if got := len(found.Items); got != files {
			t.Errorf("the search finds %d files, want %d", got, files)
		}
		if got := meta.reads.Load(); got != 0 {
			t.Errorf("%d entries were read from the store", got)
		}
	})
}
