package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// harvester follows all changes of a repository and keeps, after each page, what it got and where it goes on, over crashes of
// the service and its own.
type harvester struct {
	kept    string            // URL
	has     map[string]record // by id, resources
	arrived []record          // since the last verification, in order
	last    int64             // stamp of what arrived last
	dies    *rand.Rand        // nil: never
	resumed int
}

func newHarvester(limit int, dies *rand.Rand) *harvester {
	return &harvester{kept: fmt.Sprintf("/resources?state=all&limit=%d", limit), has: map[string]record{}, dies: dies}
}

// run follows changes until the service is killed.
func (h *harvester) run(ctx context.Context, w *world) error {
	for !w.ended.Load() {
		if err := h.goOn(ctx, w.caller); err != nil && (!w.ended.Load() || broken(err)) {
			return fmt.Errorf("harvester: %w", err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil
}

// goOn fetches what has changed since the last time. After an error the place is that of the last whole page.
func (h *harvester) goOn(ctx context.Context, c *caller) error {
	for {
		var p page
		if err := h.fetch(ctx, c, &p); err != nil || p.End {
			return err
		}
		for _, r := range p.Data {
			r.URL, r.DataURL = "", ""
			h.has[r.ID] = r
			h.arrived = append(h.arrived, r)
		}
		h.kept = p.NextPage
	}
}

// fetch gets the page where the harvester is. Sometimes it dies meanwhile: what it got is lost, and another one takes over.
func (h *harvester) fetch(ctx context.Context, c *caller, p *page) error {
	if h.dies == nil || h.dies.IntN(10) > 0 {
		return c.get(ctx, h.kept, p)
	}
	short, cancel := context.WithTimeout(ctx, time.Duration(h.dies.IntN(4000))*time.Microsecond)
	defer cancel()
	var lost page
	_ = c.get(short, h.kept, &lost) // dead before or after it came, it kept nothing
	h.resumed++
	return c.get(ctx, h.kept, p)
}

// verify compares what the harvester has, once it has come to the end, with what there is, and sees that all came in the
// order of their stamps.
func (h *harvester) verify(ctx context.Context, w *world, all map[string]record) error {
	if err := h.goOn(ctx, w.caller); err != nil {
		return err
	}
	for id, r := range h.has {
		if _, ok := all[id]; !ok {
			return violated(nil, "LOST: the harvester was shown %+v", r)
		}
	}
	for id, r := range all {
		got := h.has[id]
		got.Purged = r.Purged // a purge is no change that harvesters are told of
		r.URL, r.DataURL = "", ""
		if r.SetID != "" && got != r {
			return violated(nil, "MISSED: the harvester has %+v, and there is %+v", got, r)
		}
	}
	for _, r := range h.arrived {
		stamp := w.stamps.of(r, h.last)
		if stamp <= h.last {
			return violated(nil, "%+v came after something with the stamp %d", r, h.last)
		}
		h.last = stamp
	}
	h.arrived = nil
	return nil
}

// stamps are those that the writers were told, by version of a resource.
type stamps struct {
	mu    sync.Mutex
	known map[record][]int64
	vague map[record]bool // without the time: there is also such a version whose stamp nobody was told
}

// versionOf is what tells one version of a resource from others, as far as a record can.
func versionOf(id, description, state, modified string) record {
	return record{ID: id, Description: description, State: state, Modified: modified}
}

// add notes what a writer was told about a thing.
func (s *stamps) add(th *thing) {
	if th.isSet() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known, s.vague = map[record][]int64{}, map[record]bool{}
	}
	if th.etag == "" {
		s.vague[versionOf(th.want.ID, th.want.Description, th.want.State, "")] = true
		return
	}
	key := versionOf(th.want.ID, th.want.Description, th.want.State, modifiedOf(th.etag))
	s.known[key] = append(s.known[key], stampOf(th.etag))
}

// of returns the stamp of a version that a harvester was given after one with the stamp last. Where nobody was told it exactly,
// it is taken for as early as last allows, within its millisecond.
func (s *stamps) of(r record, last int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.known[versionOf(r.ID, r.Description, r.State, r.Modified)]
	if len(known) > 0 && !s.vague[versionOf(r.ID, r.Description, r.State, "")] {
		for _, stamp := range known {
			if stamp > last {
				return stamp
			}
		}
		return known[0]
	}
	at, err := time.Parse(time.RFC3339, r.Modified)
	if err != nil {
		return 0
	}
	return min(max(at.UnixMicro()+1, last+1), at.UnixMicro()+999)
}
