package metadatatest

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"labshelf/metadata"
)

// waysToWebhooks returns every way to find the row of a webhook or a delivery.
func waysToWebhooks(row any) []way {
	switch row := row.(type) {
	case metadata.Webhook:
		return []way{{"Webhooks.Get", func(tx *metadata.Tx) (any, error) { return tx.Webhooks.Get(row.ID) }}}
	case metadata.Delivery:
		return []way{{"Deliveries.Get", func(tx *metadata.Tx) (any, error) { return tx.Deliveries.Get(row.Key()) }}}
	}
	return waysToDescriptive(row)
}

// sizesOfWebhooks returns the smallest and largest webhook and delivery.
func sizesOfWebhooks(least, most metadata.Record, long, name string) []any {
	return []any{
		metadata.Webhook{Record: least, URL: "u"},
		metadata.Webhook{
			Record: most, DataspaceID: maxID(), URL: name, Label: long[:400], Events: long, Secret: long, FormerSecret: long, FormerUntil: most.Modified,
			Position: math.MaxUint64, Deliveries: math.MaxUint64, Tries: math.MaxUint32, NextTry: math.MaxInt64, Paused: most.Modified, PauseReason: math.MaxUint8, PausedBecause: long,
			MadeWith: maxID(),
		},
		metadata.Delivery{WebhookID: id(13)},
		metadata.Delivery{
			WebhookID: maxID(), Number: math.MaxUint64, Entry: math.MaxUint64, MessageID: name, Event: long, Tries: math.MaxUint32, First: most.Modified, Last: math.MinInt64,
			Status: math.MinInt64, Micros: math.MaxInt64, Error: long, Answer: long, Skipped: true,
		},
	}
}

func (a *answers) askWebhooks(tx *metadata.Tx, p probe) {
	noteAll(a, "Webhooks.All", tx.Webhooks.All(metadata.ID{}))
	for _, id := range p.ids {
		row, err := tx.Webhooks.Get(id)
		note(a, "Webhooks.Get "+id.String(), row, err)
		noteAll(a, "Webhooks.All after "+id.String(), tx.Webhooks.All(id))
		kept, err := list(tx.Deliveries.Before(metadata.DeliveryKey{Webhook: id, Number: math.MaxUint64}))
		if err != nil || len(kept) > 0 {
			note(a, "Deliveries.Before the last of "+id.String(), kept, err)
		}
		for _, older := range kept {
			row, err := tx.Deliveries.Get(older.Key())
			note(a, fmt.Sprintf("Deliveries.Get %s %d", id, older.Number), row, err)
			noteAll(a, fmt.Sprintf("Deliveries.Before %s %d", id, older.Number), tx.Deliveries.Before(older.Key()))
		}
	}
}

// webhook draws a webhook whose ids are ids of resources.
func (m *machine) webhook(rt *rapid.T, s *session) any {
	id := rapid.SampledFrom(m.pool.resources).Draw(rt, "webhook")
	w, err := s.tx.Webhooks.Get(id)
	w.ID = id
	m.record(rt, s, err != nil, &w.Record)
	change(rt, err != nil, &w.DataspaceID, rapid.SampledFrom(append(m.pool.dataspaces, metadata.ID{})))
	change(rt, err != nil, &w.URL, rapid.SampledFrom(texts()))
	change(rt, err != nil, &w.Events, rapid.SampledFrom(texts()))
	change(rt, err != nil, &w.Position, rapid.Uint64())
	change(rt, err != nil, &w.Paused, rapid.SampledFrom([]metadata.Stamp{0, m.last}))
	return w
}

func (m *machine) delivery(rt *rapid.T, _ *session) any {
	return metadata.Delivery{
		WebhookID: rapid.SampledFrom(m.pool.resources).Draw(rt, "delivery of"), Number: m.deliveryNumber(rt), Entry: rapid.Uint64().Draw(rt, "entry"),
		MessageID: rapid.SampledFrom(texts()).Draw(rt, "message"), First: m.last, Last: m.moment(rt, "last try"),
		Status: rapid.Int64().Draw(rt, "status"), Answer: rapid.SampledFrom(texts()).Draw(rt, "answer"), Skipped: rapid.Bool().Draw(rt, "skipped"),
	}
}

func (m *machine) deliveryNumber(rt *rapid.T) uint64 {
	return rapid.SampledFrom([]uint64{0, 1, 255, 256, math.MaxUint64 - 1, math.MaxUint64}).Draw(rt, "number")
}

// removeWebhook removes a webhook, or one delivery.
func (m *machine) removeWebhook(rt *rapid.T, s *session) {
	id := rapid.SampledFrom(m.pool.resources).Draw(rt, "webhook")
	if rapid.Bool().Draw(rt, "a delivery") {
		of := metadata.DeliveryKey{Webhook: id, Number: m.deliveryNumber(rt)}
		s.do(op{"Deliveries.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Deliveries.Remove(of) }})
		return
	}
	s.do(op{"Webhooks.Remove", func(tx *metadata.Tx) (any, error) { return nil, tx.Webhooks.Remove(id) }})
}

// testDeliveries tests that the deliveries of a webhook are listed newest first, without deliveries
// of others.
func testDeliveries(t *testing.T, s *store) {
	numbers := []uint64{0, 1, 255, 256, 1 << 63}
	for n := byte(1); n <= 3; n++ {
		for _, number := range numbers {
			s.put(t, metadata.Delivery{WebhookID: id(n), Number: number, Entry: uint64(n)})
		}
	}
	s.update(t, func(tx *metadata.Tx) error {
		return tx.Deliveries.Remove(metadata.DeliveryKey{Webhook: id(2), Number: 255})
	})
	for number, want := range map[uint64][]uint64{0: nil, 1: {0}, 256: {1, 0}, math.MaxUint64: {1 << 63, 256, 1, 0}} {
		of := metadata.DeliveryKey{Webhook: id(2), Number: number}
		got := view(t, s, func(tx *metadata.Tx) ([]metadata.Delivery, error) { return list(tx.Deliveries.Before(of)) })
		for i, d := range got {
			if d.WebhookID != id(2) || i >= len(want) || d.Number != want[i] {
				t.Errorf("before %d: delivery %d of %s at %d, want %v", number, d.Number, d.WebhookID, i, want)
			}
		}
		same(t, fmt.Sprint("deliveries before ", number), len(got), len(want))
	}
}

// testWebhooks tests that webhooks are read by ranges of ids, and can be removed.
func testWebhooks(t *testing.T, s *store) {
	for n := byte(3); n >= 1; n-- {
		s.put(t, metadata.Webhook{Record: metadata.Record{ID: id(n)}, URL: "u"})
	}
	after := func(of metadata.ID) []metadata.ID {
		return mapped(view(t, s, func(tx *metadata.Tx) ([]metadata.Webhook, error) { return list(tx.Webhooks.All(of)) }),
			func(w metadata.Webhook) metadata.ID { return w.ID })
	}
	same(t, "all", after(metadata.ID{}), []metadata.ID{id(1), id(2), id(3)})
	same(t, "after the first", after(id(1)), []metadata.ID{id(2), id(3)})
	s.update(t, func(tx *metadata.Tx) error { return tx.Webhooks.Remove(id(2)) })
	same(t, "after one is removed", after(metadata.ID{}), []metadata.ID{id(1), id(3)})
}
