package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"labshelf/verify/e2e"
)

// harvester follows all changes of a repository. After each page, it saves the records and the next
// URL, which survive crashes of the service and of the harvester.
type harvester struct {
	kept    string            // the next URL
	has     map[string]record // by id, resources
	arrived []record          // since the last verification, in order
	last    int64             // stamp of the last arrival
	dies    *rand.Rand        // nil: it never crashes
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

// goOn fetches all changes since the last call. After an error, the position is the end of the last
// complete page.
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

// fetch gets the harvester's next page. Sometimes the harvester crashes during the request: it
// loses the page and restarts.
func (h *harvester) fetch(ctx context.Context, c *e2e.Client, p *e2e.Page) error {
	if h.dies == nil || h.dies.IntN(10) > 0 {
		return c.Get(ctx, h.kept, p)
	}
	short, cancel := context.WithTimeout(ctx, time.Duration(h.dies.IntN(4000))*time.Microsecond)
	defer cancel()
	var lost e2e.Page
	_ = c.Get(short, h.kept, &lost) // a crash before or after the answer: nothing is saved
	h.resumed++
	return c.Get(ctx, h.kept, p)
}

// verify fetches the remaining changes, compares the harvester's records with the existing ones,
// and checks the order of the stamps.
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
		got.Purged = r.Purged // harvesters do not receive purges as changes
		r.URL, r.DataURL = "", ""
		if r.SetID != "" && got != r {
			return violated(nil, "MISSED: the harvester has %+v, but the service has %+v", got, r)
		}
	}
	for _, r := range h.arrived {
		stamp := w.stamps.of(r, h.last)
		if stamp <= h.last {
			return violated(nil, "%+v arrived after a record with the stamp %d", r, h.last)
		}
		h.last = stamp
	}
	h.arrived = nil
	return nil
}

// stamps holds the stamps that the writers received in answers, by version of a resource.
type stamps struct {
	mu    sync.Mutex
	known map[record][]int64
	vague map[record]bool // without the time: another such version exists whose stamp was in no answer
}

// versionOf identifies one version of a resource, as far as a record can.
func versionOf(id, description, state, modified string) record {
	return record{ID: id, Description: description, State: state, Modified: modified}
}

// add saves the stamp of an object after an answer.
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

// of returns the stamp of a version that a harvester received after a version with the stamp last.
// If it is not known exactly, of assumes the earliest one that last allows, in the millisecond of
// the version.
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
