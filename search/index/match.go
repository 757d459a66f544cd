package index

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"labshelf/search/query"
	"labshelf/search/words"
)

// fit is a matching word of a zone, by number.
type fit struct {
	word, quality int
}

// appendFits appends the words of a zone that match the single word of a clause.
func appendFits(to []fit, z *zone, word []byte, exact, substring bool) []fit {
	switch {
	case z.words.n == 0:
		return to
	case exact:
		if i, ok := z.words.find(word); ok {
			to = append(to, fit{i, whole})
		}
		return to
	case substring:
		return appendHolding(to, &z.words, word)
	default:
		return appendPrefixed(to, &z.words, word)
	}
}

// anyFits reports whether appendFits would append any word.
func anyFits(z *zone, word []byte, exact, substring bool) bool {
	switch {
	case z.words.n == 0:
		return false
	case exact:
		_, ok := z.words.find(word)
		return ok
	case substring:
		return bytes.Contains(z.words.texts, word)
	default:
		_, rest := z.words.lower(word)
		return bytes.HasPrefix(rest, word)
	}
}

// appendPrefixed appends the words that begin with a word.
func appendPrefixed(to []fit, words *wordList, word []byte) []fit {
	i, rest := words.lower(word)
	for bytes.HasPrefix(rest, word) {
		quality := prefix
		if rest[len(word)] == separator {
			quality = whole
		}
		to = append(to, fit{i, quality})
		i, rest = i+1, rest[bytes.IndexByte(rest, separator)+1:]
	}
	return to
}

// appendHolding appends the words that contain a word, at the beginning or inside.
func appendHolding(to []fit, words *wordList, word []byte) []fit {
	offset := 0
	for {
		next := bytes.Index(words.texts[offset:], word)
		if next < 0 {
			return to
		}
		offset += next
		i, begin, end := words.holding(offset)
		quality := inside
		switch {
		case offset == begin && end-begin == len(word):
			quality = whole
		case offset == begin:
			quality = prefix
		}
		to = append(to, fit{i, quality})
		offset = end
	}
}

// isSubstring reports whether a query word also matches inside words of names.
func isSubstring(word string) bool {
	return utf8.RuneCountInString(word) >= 2
}

// scratch is the reusable memory of one goroutine that evaluates shards.
type scratch struct {
	zones   [zoneCount]zone // of the shard
	fits    []fit           // of the current clause, in one zone; the fits of all clauses would be too many
	quality []uint8         // of the current clause, by document
	hit     bitmap          // documents with a quality above 0
	result  bitmap
	scores  []uint16
	runs    [3][]uint32
	counts  []uint32

	charge  func(units int) error // subtracts work from the meter of the search
	spent   int                   // work that is not subtracted yet
	stopped error                 // the reason why the search ends early
}

// reset prepares for a shard of n documents.
func (w *scratch) reset(n int) {
	if len(w.quality) < n {
		w.quality, w.scores = make([]uint8, n), make([]uint16, n)
		w.hit, w.result = newBitmap(n), newBitmap(n)
	}
	w.hit, w.result = w.hit[:(n+63)/64], w.result[:(n+63)/64]
	w.result.fill(n)
	clear(w.scores[:n])
}

// zonesOf returns the number of zones in which a clause of words can match. They are the first
// zones.
func zonesOf(c *query.Clause) int {
	if c.Field == query.Name {
		return nameZone + 1
	}
	return ownZones
}

// possible reports whether any document can match a clause.
func (w *scratch) possible(c *query.Clause) bool {
	for z := range zonesOf(c) {
		if zone := &w.zones[z]; len(c.Words) == 1 && anySpellingFits(zone, c, z) || len(c.Words) > 1 && phrasePossible(zone, c) {
			return true
		}
	}
	return false
}

// anySpellingFits reports whether a zone has a word that matches the single word of a clause.
func anySpellingFits(zone *zone, c *query.Clause, z int) bool {
	for s := range c.Spellings(0) {
		if anyFits(zone, []byte(s.Text), s.Whole, z == nameZone && isSubstring(s.Text)) {
			return true
		}
	}
	return false
}

// phrasePossible reports whether a zone has every word of a phrase that must match exactly: all
// except the first and the last.
func phrasePossible(z *zone, c *query.Clause) bool {
	if z.words.n == 0 {
		return false
	}
	for i := 1; i < len(c.Words)-1; i++ {
		some := false
		for s := range c.Spellings(i) {
			_, ok := z.words.find([]byte(s.Text))
			some = some || ok
		}
		if !some {
			return false
		}
	}
	return true
}

// markWords marks the documents that match a clause of words.
func (w *scratch) markWords(c *query.Clause) {
	for z := range zonesOf(c) {
		w.markZone(c, z)
	}
}

// markZone marks the documents that match a clause of words in one zone.
func (w *scratch) markZone(c *query.Clause, z int) {
	if len(c.Words) > 1 {
		w.markPhrase(c, z)
		return
	}
	for spelling := range c.Spellings(0) {
		w.markWord(spelling, z)
	}
}

// markWord marks the documents with a word of a spelling in one zone.
func (w *scratch) markWord(s words.Spelling, z int) {
	zone, substring := &w.zones[z], z == nameZone && isSubstring(s.Text)
	if !s.Whole && !substring && zone.words.n > 0 {
		w.markPrefixed(zone, []byte(s.Text), weights[z])
		return
	}
	w.fits = appendFits(w.fits[:0], zone, []byte(s.Text), s.Whole, substring)
	for _, f := range w.fits {
		if !w.spend(fitCost) {
			return
		}
		w.markList(zone, zone.words.list(f.word), uint8(f.quality*weights[z]))
	}
}

// markList marks the documents of a posting list. It returns the number of documents of the result
// that had fewer points.
func (w *scratch) markList(z *zone, list []byte, points uint8) (raised int) {
	position, at, end := beforeFirst, 0, uint64(0)
	length, located := len(list), 0
	for len(list) > 0 {
		var gap uint32
		gap, list = takeGap(list)
		position += gap
		if uint64(position) < end {
			continue // the same document again
		}
		at = z.locate(position, at)
		end = z.starts.at(at + 1)
		doc := z.doc(at)
		if w.quality[doc] < points && w.result.has(doc) {
			raised++
		}
		w.mark(doc, points)
		located++
	}
	w.spend(length*decodeCost + located*locateCost)
	return raised
}

// markPhrase marks the documents that contain a sequence of words.
func (w *scratch) markPhrase(c *query.Clause, z int) {
	zone := &w.zones[z]
	if !phrasePossible(zone, c) {
		return
	}
	for quality := whole; quality >= inside; quality-- {
		if quality < whole && c.Whole || quality == inside && z != nameZone {
			return
		}
		at := 0
		for _, p := range w.phrase(zone, c, quality) {
			at = zone.locate(p, at)
			w.mark(zone.doc(at), uint8(quality*weights[z]))
		}
	}
}

// phrase returns the start positions of a phrase of whole words. With prefix, the last word can be
// longer; with inside, the first word can also have a longer beginning.
func (w *scratch) phrase(z *zone, c *query.Clause, quality int) []uint32 {
	found := w.runs[0][:0]
	for i := range c.Words {
		list := &found
		if i > 0 {
			list = &w.runs[1]
			*list = (*list)[:0]
		}
		*list = w.appendSpellings(*list, z, c, i, quality)
		if i > 0 {
			found = followed(found, *list, uint32(i))
		}
		if len(found) == 0 || w.stopped != nil {
			break
		}
	}
	w.runs[0] = found
	return found
}

// appendSpellings appends the positions of the words that match the i-th word of a phrase, in
// order.
func (w *scratch) appendSpellings(to []uint32, z *zone, c *query.Clause, i, quality int) []uint32 {
	lists := 0
	for s := range c.Spellings(i) {
		word, before := []byte(s.Text), len(to)
		switch {
		case i == 0 && quality == inside && !s.Whole && isSubstring(s.Text):
			to = w.appendEnding(to, z, word)
		case i == len(c.Words)-1 && quality <= prefix && !s.Whole:
			to = w.appendBeginning(to, z, word)
		default:
			if n, ok := z.words.find(word); ok {
				to = w.appendPositions(to, z, n)
			}
		}
		if len(to) > before {
			lists++
		}
	}
	sortUnion(to, lists)
	return to
}

// appendBeginning appends the positions of the words that begin with a word.
func (w *scratch) appendBeginning(to []uint32, z *zone, word []byte) []uint32 {
	fits := appendPrefixed(nil, &z.words, word)
	for _, f := range fits {
		if to = w.appendPositions(to, z, f.word); w.stopped != nil {
			return to
		}
	}
	sortUnion(to, len(fits))
	return to
}

// appendEnding appends the positions of the words that end with a word.
func (w *scratch) appendEnding(to []uint32, z *zone, word []byte) []uint32 {
	// A separator follows each word, and words do not contain it.
	end := append(slices.Clone(word), separator)
	lists, offset := 0, 0
	for {
		next := bytes.Index(z.words.texts[offset:], end)
		if next < 0 {
			sortUnion(to, lists)
			return to
		}
		i, _, _ := z.words.holding(offset + next)
		if to = w.appendPositions(to, z, i); w.stopped != nil {
			return to
		}
		lists++
		offset += next + len(end)
	}
}

// appendPositions appends the positions of a word, and counts them as work.
func (w *scratch) appendPositions(to []uint32, z *zone, word int) []uint32 {
	before := len(to)
	if to = z.appendPositions(to, word); w.spend(fitCost + collectCost*(len(to)-before)) {
		return to
	}
	return to[:before]
}

// sortUnion sorts the concatenation of sorted lists.
func sortUnion(positions []uint32, lists int) {
	if lists > 1 {
		slices.Sort(positions)
	}
}

// followed keeps each position for which others contains the position plus the distance.
func followed(positions, others []uint32, distance uint32) []uint32 {
	kept := positions[:0]
	i := 0
	for _, p := range positions {
		for i < len(others) && others[i] < p+distance {
			i++
		}
		if i < len(others) && others[i] == p+distance {
			kept = append(kept, p)
		}
	}
	return kept
}
