package index

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
)

// ErrTooCostly means that a search would read more of the index than MaxWork allows.
var ErrTooCostly = errors.New("the query reads too much of the index")

// MaxWork limits one search, in units of work. The words of a sentence cost a tiny fraction of it.
// Only many words that are prefixes of most words of many files, such as single digits in tables of
// numbers, come near it.
const MaxWork = 512 << 20

// Costs of operations in units of work.
const (
	decodeCost  = 1  // a position of a posting list
	locateCost  = 8  // a document of a posting list
	collectCost = 8  // a position that is collected and sorted for a phrase
	fitCost     = 16 // a matching word of the index
)

// meter counts the remaining work of one search over all of its goroutines.
type meter struct{ left atomic.Int64 }

// charge returns a function that subtracts units from the meter. It returns ErrTooCostly when the
// meter is empty, and the error of ctx when ctx has ended.
func (m *meter) charge(ctx context.Context) func(units int) error {
	return func(units int) error {
		if m.left.Add(int64(-units)) < 0 {
			return ErrTooCostly
		}
		return ctx.Err()
	}
}

// chargeStep is the amount of work between two updates of the meter.
const chargeStep = 1 << 16

// spend records work, and reports whether the search continues. After false the scratch is not
// clean.
func (w *scratch) spend(units int) bool {
	w.spent += units
	if w.spent >= chargeStep && w.stopped == nil {
		w.stopped = w.charge(w.spent)
		w.spent = 0
	}
	return w.stopped == nil
}

// begin prepares for one search.
func (w *scratch) begin(charge func(units int) error) {
	w.charge, w.spent, w.stopped = charge, 0, nil
}

// end records the remaining work of a search. It keeps the scratch for reuse, unless the search was
// stopped or needed much memory.
func (w *scratch) end() error {
	if w.stopped == nil {
		w.stopped = w.charge(w.spent)
	}
	const most = 1 << 20 // positions or words
	if err := w.stopped; err != nil {
		return err
	}
	if cap(w.fits) <= most && cap(w.runs[0])+cap(w.runs[1]) <= most {
		w.charge = nil
		scratches.Put(w)
	}
	return nil
}

// markPrefixed marks the documents with words of a zone that begin with a word. Once each document
// of the result has its points, it skips the remaining words: a digit is the prefix of most words
// in tables of numbers.
func (w *scratch) markPrefixed(zone *zone, word []byte, weight int) {
	words := &zone.words
	i, rest := words.lower(word)
	if bytes.HasPrefix(rest, word) && rest[len(word)] == separator {
		w.markList(zone, words.list(i), uint8(whole*weight))
		i, rest = i+1, rest[len(word)+1:]
	}
	points, lacking := uint8(prefix*weight), -1
	for seen := 0; lacking != 0 && bytes.HasPrefix(rest, word) && w.spend(fitCost); seen++ {
		if seen == countLackingAfter {
			lacking = w.lacking(zone, points)
		}
		raised := w.markList(zone, words.list(i), points)
		if lacking > 0 {
			lacking -= raised
		}
		i, rest = i+1, rest[bytes.IndexByte(rest, separator)+1:]
	}
}

// countLackingAfter is the number of marked words after which counting the missing documents pays
// off.
const countLackingAfter = 16

// lacking returns the number of documents of the result with a text in a zone and less than the
// given points.
func (w *scratch) lacking(z *zone, points uint8) (n int) {
	w.spend(z.count * decodeCost)
	for i := range z.count {
		if doc := z.doc(i); w.quality[doc] < points && w.result.has(doc) {
			n++
		}
	}
	return n
}
