package index

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"math/bits"
	"os"
	"slices"
)

// fanout is the number of segments of similar size in memory that triggers a merge.
const fanout = 4

// mergeInMemory merges segments of similar size in memory while there are at least fanout of them.
// The caller holds write.
func (x *Index) mergeInMemory(parts []part) ([]part, error) {
	for {
		small := x.fullTier(parts)
		if small == nil {
			return parts, nil
		}
		var b bytes.Buffer
		if err := mergeParts(small, &b); err != nil {
			return nil, err
		}
		merged, err := memoryPart(b.Bytes())
		if err != nil {
			return nil, err
		}
		parts = without(parts, small)
		if merged.docs > 0 {
			parts = append(parts, merged)
		}
	}
}

// fullTier returns fanout segments in memory of about the same size, or nil.
func (x *Index) fullTier(parts []part) []part {
	tiers := map[int][]part{}
	for _, p := range parts {
		if p.file != nil || x.busy[p.segment] {
			continue
		}
		tier := bits.Len(uint(len(p.data))) / 2
		tiers[tier] = append(tiers[tier], p)
		if len(tiers[tier]) == fanout {
			return tiers[tier]
		}
	}
	return nil
}

// without returns the parts whose segments are not among others.
func without(parts, others []part) []part {
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		return slices.ContainsFunc(others, func(o part) bool { return o.segment == p.segment })
	})
}

// mergeParts writes a segment with the live documents of several. It proceeds by dataspace, and
// holds the documents of one shard in memory at a time.
func mergeParts(parts []part, to io.Writer) error {
	w, err := newSegmentWriter(to)
	if err != nil {
		return err
	}
	for _, dataspace := range dataspacesOf(parts) {
		if err := mergeDataspace(parts, dataspace, w); err != nil {
			return err
		}
	}
	return w.finish()
}

// dataspacesOf returns the dataspaces with shards in parts, in order.
func dataspacesOf(parts []part) [][16]byte {
	var all [][16]byte
	for _, p := range parts {
		for i := range p.shards {
			all = append(all, p.shards[i].dataspace)
		}
	}
	slices.SortFunc(all, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(all)
}

// mergeDataspace writes the shards of one dataspace.
func mergeDataspace(parts []part, dataspace [16]byte, w *segmentWriter) error {
	var sources []*mergeSource
	for _, p := range parts {
		begin, end := p.of(dataspace)
		for i := begin; i < end; i++ {
			s, err := p.shard(i)
			if err != nil {
				return err
			}
			sources = append(sources, &mergeSource{bytes: p.raw(i), shard: s, dead: p.dead[i]})
		}
	}
	for _, group := range groups(sources) {
		if data := mergeShards(group); data != nil {
			if err := w.add(dataspace, data); err != nil {
				return err
			}
		}
	}
	return nil
}

// background merges segments to files until the index is closed.
func (x *Index) background() {
	for range x.wake {
		for x.mergeOnce() {
		}
	}
}

// mergeOnce flushes the memory, or else merges files, and reports whether more may remain to do.
func (x *Index) mergeOnce() bool {
	x.write.Lock()
	full := memoryBytes(x.current.parts) > maxMemory || x.unsaved > maxUnsaved
	closed := x.closed
	chosen := chooseFiles(x.current.parts)
	x.write.Unlock()
	switch {
	case closed:
		return false
	case full:
		return x.flush() == nil
	case len(chosen) > 0:
		return x.mergeToFile(chooseFiles, false) == nil
	}
	return false
}

// chooseFiles returns the files to merge: the largest file that is at most four times as large as
// all smaller ones together, with these. Two or three files remain, at the cost of rewriting each
// document several times.
func chooseFiles(parts []part) []part {
	var files []part
	for _, p := range parts {
		if p.file != nil {
			files = append(files, p)
		}
	}
	slices.SortFunc(files, func(a, b part) int { return cmp.Compare(len(a.data), len(b.data)) })
	sum, chosen := 0, 0
	for i, p := range files {
		if i > 0 && len(p.data) <= 4*sum {
			chosen = i + 1
		}
		sum += len(p.data)
	}
	return files[:chosen]
}

// Compact merges everything to one file, and drops dead documents. Searches are then fastest. Call
// it at the end of a rebuild; the index stays usable in the meantime.
func (x *Index) Compact() error {
	if err := x.flush(); err != nil {
		return err
	}
	return x.mergeToFile(func(parts []part) []part {
		return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.file == nil })
	}, false)
}

// Expunge removes dead documents from all files. The index stays usable in the meantime.
func (x *Index) Expunge() error {
	if err := x.flush(); err != nil {
		return err
	}
	return x.mergeToFile(func(parts []part) []part {
		return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.file == nil || p.alive() == p.docs })
	}, false)
}

// flush writes the segments in memory to a file, and the manifest with the position after them.
func (x *Index) flush() error {
	err := x.mergeToFile(func(parts []part) []part {
		return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.file != nil })
	}, true)
	x.write.Lock()
	defer x.write.Unlock()
	x.failed = err
	x.idle.Broadcast()
	return err
}

// mergeToFile merges the chosen parts to one file, and writes the manifest, with the current
// position if the parts are all that is in memory.
func (x *Index) mergeToFile(choose func([]part) []part, flush bool) error {
	x.merging.Lock()
	defer x.merging.Unlock()
	x.write.Lock()
	chosen := choose(x.current.parts)
	position, changes := x.position, x.unsaved
	for _, p := range chosen {
		x.busy[p.segment] = true
	}
	name := segmentName(x.next)
	x.next++
	used, err := x.acquire()
	x.write.Unlock()
	if err != nil {
		return err
	}
	defer x.release(used)

	var merged *part
	if len(chosen) > 0 {
		merged, err = x.writeSegment(name, chosen)
	}
	x.write.Lock()
	defer x.write.Unlock()
	for _, p := range chosen {
		delete(x.busy, p.segment)
	}
	if err != nil {
		return err
	}
	if flush {
		x.saved = position
		x.unsaved -= changes
	}
	return guard(func() error { return x.replace(chosen, merged) })
}

// writeSegment merges parts to a file, and opens it. It omits documents that are already dead, and
// returns nil if nothing remains.
func (x *Index) writeSegment(name string, parts []part) (*part, error) {
	err := guard(func() error {
		return x.writeFile(name, func(w *bufio.Writer) error { return mergeParts(parts, w) })
	})
	if err != nil {
		return nil, err
	}
	p, err := openPart(x.path(name))
	if err != nil {
		return nil, err
	}
	if p.docs == 0 {
		return nil, errors.Join(unmapFile(p.file.data), os.Remove(p.file.path))
	}
	return &p, nil
}

// replace replaces the parts of a merge by its result, and writes the manifest. The caller holds
// write.
func (x *Index) replace(old []part, merged *part) error {
	var parts []part
	died := map[[16]byte]bool{}
	for _, p := range x.current.parts {
		i := slices.IndexFunc(old, func(o part) bool { return o.segment == p.segment })
		if i < 0 {
			parts = append(parts, p)
		} else if err := p.diedSince(&old[i], died); err != nil {
			return err
		}
	}
	if merged != nil {
		added := []part{*merged}
		if err := markDead(added, died); err != nil {
			return err
		}
		parts = append(parts, added[0])
	}
	for _, p := range old {
		if p.file != nil {
			x.replaced = append(x.replaced, p.file)
		}
	}
	x.publish(parts)
	if err := x.save(parts, x.saved); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range x.replaced {
		f.obsolete = true
		f.tidy()
	}
	x.replaced = nil
	return nil
}

// diedSince adds the ids of documents that have died since an older state of the part.
func (p *part) diedSince(old *part, ids map[[16]byte]bool) error {
	for at, dead := range p.dead {
		for doc := range dead.each {
			if old.dead[at].has(doc) {
				continue
			}
			s, err := p.shard(at)
			if err != nil {
				return err
			}
			ids[s.id(doc)] = true
		}
	}
	return nil
}
