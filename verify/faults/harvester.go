package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"labshelf/verify/e2e"
)

// harvester follows all changes of a repository. After each page it saves what it got and where to
// continue, across crashes of the service and its own.
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
func (h *harvester) run(ctx context.Context, w *workload) error {
	for !w.ended.Load() {
		if err := h.goOn(ctx, w.client); err != nil && (!w.ended.Load() || broken(err)) {
			return fmt.Errorf("harvester: %w", err)
		}
		time.Sleep(2 * time.Millisecond) // a harvester polls
	}
	return nil
}

// goOn fetches what has changed since the last time. After an error the position is that of the
// last complete page.
func (h *harvester) goOn(ctx context.Context, c *e2e.Client) error {
	for {
		var p e2e.Page
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

// fetch gets the harvester's next page. Sometimes the harvester crashes meanwhile: it loses the
// page, and is restarted.
func (h *harvester) fetch(ctx context.Context, c *e2e.Client, p *e2e.Page) error {
	if h.dies == nil || h.dies.IntN(10) > 0 {
		return c.Get(ctx, h.kept, p)
	}
	short, cancel := context.WithTimeout(ctx, time.Duration(h.dies.IntN(4000))*time.Microsecond)
	defer cancel()
	var lost e2e.Page
	_ = c.Get(short, h.kept, &lost) // crashed before or after the answer, it has saved nothing
	h.resumed++
	return c.Get(ctx, h.kept, p)
}

// verify compares what the harvester has, once it has come to the end, with what there is, and
// checks the order of the stamps.
func (h *harvester) verify(ctx context.Context, w *workload, all map[string]record) error {
	if err := h.goOn(ctx, w.client); err != nil {
		return err
	}
	for id, r := range h.has {
		if _, ok := all[id]; !ok {
			return violated(nil, "LOST: the harvester was shown %+v", r)
		}
	}
	for id, r := range all {
		got := h.has[id]
		got.Purged = r.Purged // a purge is no change that harvesters get
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

// stamps are those that the writers got in answers, by version of a resource.
type stamps struct {
	mu    sync.Mutex
	known map[record][]int64
	vague map[record]bool // without the time: there is also such a version whose stamp was in no answer
}

// versionOf identifies one version of a resource, as far as a record can.
func versionOf(id, description, state, modified string) record {
	return record{ID: id, Description: description, State: state, Modified: modified}
}

// add saves what a writer got in an answer about an object.
func (s *stamps) add(th *object) {
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

// of returns the stamp of a version that a harvester was given after one with the stamp last. Where
// it is not known exactly, it is assumed to be as early as last allows, within its millisecond.
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
