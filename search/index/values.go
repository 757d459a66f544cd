package index

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// values contains the values of one property in a shard, in document order.
type values struct {
	texts   []textValue
	numbers []numberValue
	dates   []dateValue
}

type textValue struct {
	doc   int
	words string // from joinWords
}

type numberValue struct {
	doc         int
	written, si float64 // NaN if the unit is unknown
	unit        string
}

type dateValue struct {
	doc   int
	micro int64
}

// sort sorts values from several shards by document.
func (v *values) sort() {
	slices.SortStableFunc(v.texts, func(a, b textValue) int { return cmp.Compare(a.doc, b.doc) })
	slices.SortStableFunc(v.numbers, func(a, b numberValue) int { return cmp.Compare(a.doc, b.doc) })
	slices.SortStableFunc(v.dates, func(a, b dateValue) int { return cmp.Compare(a.doc, b.doc) })
}

// Parts of the values of a path in a shard. Texts and units are tables; the other parts are
// columns.
const (
	valueTexts = iota
	textDocs
	textNumbers // numbers of the texts in their table
	valueUnits
	numberDocs
	numberUnits
	numberWritten // bits of the floats
	numberSI      // empty if all are as written
	dateDocs
	dateMicros
	valueParts
)

// bytes returns the values as a bundle.
func (v *values) bytes() []byte {
	var p [valueParts][]byte
	texts := map[string]uint64{}
	units := map[string]uint64{}
	for _, t := range v.texts {
		texts[t.words] = 0
	}
	for _, n := range v.numbers {
		units[n.unit] = 0
	}
	p[valueTexts], p[valueUnits] = numbered(texts), numbered(units)

	var docs, numbers, written, si []uint64
	for _, t := range v.texts {
		docs, numbers = append(docs, uint64(t.doc)), append(numbers, texts[t.words])
	}
	p[textDocs], p[textNumbers] = columnOf(docs), columnOf(numbers)

	docs, numbers = nil, nil
	for _, n := range v.numbers {
		docs, numbers = append(docs, uint64(n.doc)), append(numbers, units[n.unit])
		written, si = append(written, math.Float64bits(n.written)), append(si, math.Float64bits(n.si))
	}
	p[numberDocs], p[numberUnits], p[numberWritten] = columnOf(docs), columnOf(numbers), columnOf(written)
	if !slices.Equal(written, si) {
		p[numberSI] = columnOf(si)
	}

	docs, numbers = nil, nil
	for _, d := range v.dates {
		docs, numbers = append(docs, uint64(d.doc)), append(numbers, uint64(d.micro))
	}
	p[dateDocs], p[dateMicros] = columnOf(docs), columnOf(numbers)
	// A column of width 0 does not contain its length.
	counts := columnOf([]uint64{uint64(len(v.texts)), uint64(len(v.numbers)), uint64(len(v.dates)), math.MaxUint32})
	return appendBundle(nil, append([][]byte{counts}, p[:]...)...)
}

// numbered returns a table of the keys, and sets each value to the number of its key.
func numbered(texts map[string]uint64) []byte {
	sorted := slices.Sorted(maps.Keys(texts))
	for i, t := range sorted {
		texts[t] = uint64(i)
	}
	return tableOf(sorted)
}

// storedValues reads the format of values.bytes.
type storedValues struct {
	texts, numbers, dates int // how many
	parts                 bundle
}

func openValues(b []byte) storedValues {
	p := openBundle(b, valueParts+1)
	counts := openColumn(p.part(0))
	return storedValues{int(counts.at(0)), int(counts.at(1)), int(counts.at(2)), p}
}

func (s *storedValues) column(part int) column { return openColumn(s.parts.part(part + 1)) }
func (s *storedValues) table(part int) table   { return openTable(s.parts.part(part + 1)) }

// si returns the column of numbers in SI.
func (s *storedValues) si() column {
	if len(s.parts.part(numberSI+1)) == 0 {
		return s.column(numberWritten)
	}
	return s.column(numberSI)
}

// addTo adds the values of documents under their new numbers; documents with a negative number are
// dropped.
func (s *storedValues) addTo(v *values, renumber []int32) {
	docs, numbers, texts := s.column(textDocs), s.column(textNumbers), s.table(valueTexts)
	for i := range s.texts {
		if doc := renumber[docs.at(i)]; doc >= 0 {
			v.texts = append(v.texts, textValue{int(doc), string(texts.at(int(numbers.at(i))))})
		}
	}
	docs, numbers, texts = s.column(numberDocs), s.column(numberUnits), s.table(valueUnits)
	written, si := s.column(numberWritten), s.si()
	for i := range s.numbers {
		if doc := renumber[docs.at(i)]; doc >= 0 {
			v.numbers = append(v.numbers, numberValue{
				int(doc), math.Float64frombits(written.at(i)), math.Float64frombits(si.at(i)), string(texts.at(int(numbers.at(i)))),
			})
		}
	}
	docs, numbers = s.column(dateDocs), s.column(dateMicros)
	for i := range s.dates {
		if doc := renumber[docs.at(i)]; doc >= 0 {
			v.dates = append(v.dates, dateValue{int(doc), int64(numbers.at(i))})
		}
	}
}
