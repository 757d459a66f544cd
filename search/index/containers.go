package index

import (
	"context"

	"labshelf/search/query"
)

// containers maps the ids of dataspaces and sets whose names or titles match a clause to the points
// for their content. Each search looks them up, so a new title applies immediately to all content
// and needs no space there.
type containers map[[16]byte]uint8

// findContainers finds dataspaces and sets in the request whose names or titles match the clauses
// of words.
func (j *job) findContainers(ctx context.Context) error {
	memory := scratches.Get().(*scratch)
	memory.begin(j.meter.charge(ctx))
	for i := range j.tasks {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, _, dead, err := j.tasks[i].open()
		if err != nil {
			return err
		}
		memory.zones[containerZone] = s.zone(containerZone)
		if memory.zones[containerZone].count == 0 {
			continue
		}
		memory.reset(s.n)
		for k := range j.request.Query.Clauses {
			if c := &j.request.Query.Clauses[k]; c.Field == query.Any {
				memory.markZone(c, containerZone)
				memory.takeContainers(&s, dead, &j.containers[k])
			}
		}
		if memory.stopped != nil {
			return memory.stopped
		}
	}
	return memory.end()
}

// takeContainers adds the marked containers, and clears the marks.
func (w *scratch) takeContainers(s *shard, dead bitmap, to *containers) {
	for doc := range w.hit.each {
		if !dead.has(doc) {
			if *to == nil {
				*to = containers{}
			}
			(*to)[s.id(doc)] = w.quality[doc]
		}
		w.quality[doc] = 0
	}
	clear(w.hit)
}

// points returns the points of each set of a shard, by set number; nil if no set has points.
func (c containers) points(s *shard, dataspace [16]byte) []uint8 {
	if len(c) == 0 {
		return nil
	}
	points := make([]uint8, len(s.data.part(secSets))/16)
	some := false
	for i := range points {
		points[i] = max(c[dataspace], c[s.set(i)])
		some = some || points[i] > 0
	}
	if !some {
		return nil
	}
	return points
}

// markContained marks the documents of the result inside a container, with the points of each set.
func (w *scratch) markContained(s *shard, points []uint8) {
	if points == nil {
		return
	}
	sets := s.column(secSetOf)
	for doc := range w.result.each {
		w.mark(doc, points[sets.at(doc)]) // no mark for 0
	}
}
