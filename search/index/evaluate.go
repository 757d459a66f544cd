package index

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"labshelf/formats/descriptive/units"
	"labshelf/search"
	"labshelf/search/query"
	"labshelf/search/words"
)

// evaluate stores the matching documents of a shard in result, and their points in scores. It
// reports whether there are any.
func (w *scratch) evaluate(s *shard, dataspace [16]byte, dead bitmap, j *job) bool {
	q := &j.request.Query
	if slices.ContainsFunc(q.Clauses, isWords) {
		for z := range w.zones {
			w.zones[z] = s.zone(z)
		}
	}
	for i := range q.Clauses {
		c := &q.Clauses[i]
		if isWords(*c) && !c.Not && !w.possible(c) && len(j.containers[i].points(s, dataspace)) == 0 {
			return false
		}
	}
	w.reset(s.n)
	for i, word := range dead {
		w.result[i] &^= word
	}
	for i := range q.Clauses {
		c := &q.Clauses[i]
		switch {
		case isWords(*c):
			w.markWords(c)
			w.markContained(s, j.containers[i].points(s, dataspace))
		case c.Field == query.In:
			w.markWithin(s, c, dataspace)
		case c.Field == query.Property:
			w.markProperty(s, c)
		case columnClauses[c.Field] != nil:
			columnClauses[c.Field](w, s, c)
		}
		if w.stopped != nil || !w.narrow(c.Not, isWords(*c)) {
			return false
		}
	}
	return w.narrow(true, false)
}

func isWords(c query.Clause) bool {
	return c.Field == query.Any || c.Field == query.Name
}

// narrow keeps the marked documents in result and, if points is true, adds their points to scores.
// If not is true, it keeps the unmarked documents instead. It clears the marks, and reports whether
// result is not empty.
func (w *scratch) narrow(not, points bool) bool {
	left := uint64(0)
	for i, hit := range w.hit {
		if not {
			w.result[i] &^= hit
		} else {
			w.result[i] &= hit
		}
		left |= w.result[i]
		w.hit[i] = 0
		for base := 64 * i; hit != 0; hit &= hit - 1 {
			doc := base + trailing(hit)
			if points && !not {
				w.scores[doc] += uint16(w.quality[doc])
			}
			w.quality[doc] = 0
		}
	}
	return left != 0
}

// columnClauses mark the documents that match a clause on columns only.
var columnClauses = map[query.Field]func(w *scratch, s *shard, c *query.Clause){
	query.Tag:        markTag,
	query.Creator:    markCreator,
	query.Type:       markType,
	query.By:         markUploader,
	query.OfKind:     func(w *scratch, s *shard, c *query.Clause) { markFlags(w, s, kindFlags, uint64(c.Kind)) },
	query.Incomplete: func(w *scratch, s *shard, _ *query.Clause) { markFlags(w, s, incompleteFlag, incompleteFlag) },
	query.Modified:   func(w *scratch, s *shard, c *query.Clause) { markSpan(w, s, secStamps, c.Span) },
	query.Created:    func(w *scratch, s *shard, c *query.Clause) { markSpan(w, s, secCreated, c.Span) },
	query.Size:       markSize,
	query.Year:       markYear,
}

// markEach marks the documents of the result for which holds returns true.
func (w *scratch) markEach(holds func(doc int) bool) {
	for doc := range w.result.each {
		if holds(doc) {
			w.mark(doc, 1)
		}
	}
}

func markFlags(w *scratch, s *shard, mask, flags uint64) {
	column := s.column(secFlags)
	w.markEach(func(doc int) bool { return column.at(doc)&mask == flags })
}

func markSpan(w *scratch, s *shard, section int, span *query.Span) {
	column := s.column(section)
	w.markEach(func(doc int) bool { return span.Holds(int64(column.at(doc))) })
}

func markSize(w *scratch, s *shard, c *query.Clause) {
	flags, sizes := s.column(secFlags), s.column(secSizes)
	w.markEach(func(doc int) bool {
		return flags.at(doc)&kindFlags == uint64(search.Resource) && c.Span.Holds(int64(sizes.at(doc)))
	})
}

func markYear(w *scratch, s *shard, c *query.Clause) {
	years := s.column(secYears)
	w.markEach(func(doc int) bool {
		year := years.at(doc)
		return year != 0 && c.Span.Holds(int64(year))
	})
}

// markNumbered marks the documents of the result with one of the wanted texts of a table, using the
// column after the table.
func (w *scratch) markNumbered(s *shard, section int, wanted func(text []byte) bool) {
	texts, column := s.table(section), s.column(section+1)
	holds := make([]bool, texts.n)
	for i := range holds {
		holds[i] = wanted(texts.at(i))
	}
	if slices.Contains(holds, true) {
		w.markEach(func(doc int) bool { return holds[column.at(doc)] })
	}
}

func markUploader(w *scratch, s *shard, c *query.Clause) {
	w.markNumbered(s, secUploader, func(text []byte) bool { return c.IsText(string(text)) })
}

func markType(w *scratch, s *shard, c *query.Clause) {
	flags := s.column(secFlags)
	texts, column := s.table(secTypes), s.column(secTypeOf)
	holds := make([]bool, texts.n)
	for i := range holds {
		holds[i] = slices.Contains(strings.Split(string(texts.at(i)), "\n"), c.Text)
	}
	w.markEach(func(doc int) bool {
		return holds[column.at(doc)] && flags.at(doc)&kindFlags == uint64(search.Resource)
	})
}

// markLabels marks the documents of the result with one of the wanted labels.
func (w *scratch) markLabels(s *shard, section int, wanted func(folded []byte) bool) {
	l := s.labels(section)
	holds := make([]bool, l.labels.n)
	for i := range holds {
		folded, _ := openLabel(l.labels.at(i))
		holds[i] = wanted(folded)
	}
	if !slices.Contains(holds, true) {
		return
	}
	w.markEach(func(doc int) bool {
		for i, end := l.bounds(doc); i < end; i++ {
			if holds[l.of.at(i)] {
				return true
			}
		}
		return false
	})
}

func markTag(w *scratch, s *shard, c *query.Clause) {
	w.markLabels(s, secTags, func(folded []byte) bool { return c.IsText(string(folded)) })
}

func markCreator(w *scratch, s *shard, c *query.Clause) {
	w.markLabels(s, secCreators, func(folded []byte) bool {
		has := make([]bool, len(c.Words))
		for word := range words.Words(string(folded)) {
			for i := range c.Words {
				for s := range c.Spellings(i) {
					has[i] = has[i] || word.Text == s.Text || !s.Whole && strings.HasPrefix(word.Text, s.Text)
				}
			}
		}
		return !slices.Contains(has, false)
	})
}

// markWithin marks the content of a dataspace or set of an In clause.
func (w *scratch) markWithin(s *shard, c *query.Clause, dataspace [16]byte) {
	all := slices.Contains(c.Within, dataspace)
	holds := make([]bool, len(s.data.part(secSets))/16)
	for i := range holds {
		holds[i] = all || slices.Contains(c.Within, s.set(i))
	}
	if slices.Contains(holds, true) {
		column := s.column(secSetOf)
		w.markEach(func(doc int) bool { return holds[column.at(doc)] })
	}
}

// markProperty marks the documents that have a property with a matching path and value.
func (w *scratch) markProperty(s *shard, c *query.Clause) {
	w.markValues(s, c, c.Path)
	for _, path := range c.OtherPaths {
		w.markValues(s, c, path)
	}
}

// markValues marks the documents with a matching value of a property.
func (w *scratch) markValues(s *shard, c *query.Clause, path string) {
	v, ok := s.values(path)
	if !ok {
		return
	}
	if len(c.Words) > 0 {
		w.markTexts(&v, c)
	}
	if c.Numbers != nil {
		w.markNumbers(&v, c.Numbers)
	}
	if c.Span != nil {
		docs, micros := v.column(dateDocs), v.column(dateMicros)
		for i := range v.dates {
			if c.Span.Holds(int64(micros.at(i))) {
				w.mark(int(docs.at(i)), 1)
			}
		}
	}
}

func (w *scratch) markTexts(v *storedValues, c *query.Clause) {
	texts := v.table(valueTexts)
	holds := make([]bool, texts.n)
	for i := range holds {
		holds[i] = holdsPhrase(texts.at(i), c)
	}
	docs, numbers := v.column(textDocs), v.column(textNumbers)
	for i := range v.texts {
		if holds[numbers.at(i)] {
			w.mark(int(docs.at(i)), 1)
		}
	}
}

// holdsPhrase reports whether a text from joinWords contains the words of a clause as whole words.
func holdsPhrase(text []byte, c *query.Clause) bool {
	for ; len(text) > 0; text = text[bytes.IndexByte(text, separator)+1:] {
		if beginsWithPhrase(text, c) {
			return true
		}
	}
	return false
}

func beginsWithPhrase(text []byte, c *query.Clause) bool {
	for i := range c.Words {
		word, rest, _ := bytes.Cut(text, []byte{separator})
		text = rest
		isEqual := false
		for s := range c.Spellings(i) {
			isEqual = isEqual || string(word) == s.Text
		}
		if !isEqual {
			return false
		}
	}
	return true
}

// bound is one side of a range of numbers, converted for one unit of properties.
type bound struct {
	open  bool // matches every number
	never bool
	equal bool // matches the same number as written
	si    bool // compared in SI, otherwise as written
	value float64
}

// boundFor returns the bound for numbers of a unit.
func boundFor(b *query.Bound, unit string, exact bool) bound {
	if b == nil {
		return bound{open: true}
	}
	if b.Unit == "" {
		return bound{value: b.Value}
	}
	_, dimension, ok := inSI(1, unit)
	known := false
	for _, reading := range query.Readings(b.Unit) {
		si, other, readable := units.SI(b.Value, reading)
		known = known || readable
		if ok && readable && other == dimension {
			return bound{si: true, value: si}
		}
	}
	// An unknown unit is equal only to itself.
	return bound{never: known || !exact || unit != b.Unit, equal: true, value: b.Value}
}

func (w *scratch) markNumbers(v *storedValues, r *query.Numbers) {
	texts := v.table(valueUnits)
	lows, highs := make([]bound, texts.n), make([]bound, texts.n)
	for i := range lows {
		unit := string(texts.at(i))
		lows[i], highs[i] = boundFor(r.Low, unit, r.Exact()), boundFor(r.High, unit, r.Exact())
	}
	docs, unitOf, written, si := v.column(numberDocs), v.column(numberUnits), v.column(numberWritten), v.si()
	for i := range v.numbers {
		low, high := &lows[unitOf.at(i)], &highs[unitOf.at(i)]
		x, inSI := math.Float64frombits(written.at(i)), math.Float64frombits(si.at(i))
		if low.holds(x, inSI, r.Low, query.Above) && high.holds(x, inSI, r.High, query.Below) {
			w.mark(int(docs.at(i)), 1)
		}
	}
}

// holds reports whether a number, given as written and in SI, is on the right side of the bound
// from which b was made.
func (b *bound) holds(written, si float64, of *query.Bound, side func(x, bound float64, closed bool) bool) bool {
	switch {
	case b.open:
		return true
	case b.never:
		return false
	case b.equal:
		return written == b.value
	case b.si:
		return side(si, b.value, of.Closed)
	default:
		return side(written, b.value, of.Closed)
	}
}
