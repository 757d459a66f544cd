package postgres

import (
	"bytes"
	"maps"

	"labshelf/metadata/tables"
)

// place is a key in a bucket.
type place struct {
	bucket tables.Bucket
	key    string
}

// keyRange is the keys of a bucket from lo up to but excluding hi, with the records in another
// bucket to which their entries point. BucketCount means no records.
type keyRange struct {
	bucket    tables.Bucket
	lo, hi    string
	open      bool // no upper bound
	backwards bool
	records   tables.Bucket
}

func (r keyRange) contains(key []byte) bool {
	return string(key) >= r.lo && (r.open || string(key) < r.hi)
}

// after returns the part of a range after one of its keys.
func (r keyRange) after(key []byte) keyRange {
	if r.backwards {
		r.hi, r.open = string(key), false
	} else {
		r.lo = string(key) + "\x00"
	}
	return r
}

// pair is a key with its value, and the record to which it points. A nil record is missing or was
// not requested.
type pair struct{ key, value, record []byte }

// found is the first pairs of a range, in its order. complete means that the range has no more.
type found struct {
	pairs    []pair
	complete bool
}

// question contains the keys and ranges that one round trip requests.
type question struct {
	places []place
	ranges []keyRange
	most   []int           // number of pairs for each range
	last   []tables.Bucket // buckets whose last key is requested
}

// known contains the answers to questions. A missing key has a nil value.
type known struct {
	values map[place][]byte
	ranges map[keyRange]found
	last   map[tables.Bucket][]byte // the last key of a bucket; no greater key exists
}

func newKnown() known {
	return known{values: map[place][]byte{}, ranges: map[keyRange]found{}, last: map[tables.Bucket][]byte{}}
}

// forgetAt limits the values that a view keeps, since it may read all rows.
const forgetAt = 1 << 13

// reader reads keys and ranges, from the known answers or from the database.
type reader struct {
	known
	ask    func(*question) // makes a round trip, which adds to known; panics with a failure
	learns *learning       // nil: reads are not recorded
	forget bool            // discard values when known has more than forgetAt

	collects *learnt // requests are only added to it; nil: they are answered
}

// failure is the value of a panic when the database did not answer.
type failure struct{ err error }

func (r *reader) get(bucket tables.Bucket, key []byte) []byte {
	at := place{bucket, string(key)}
	value, ok := r.values[at]
	if r.collects != nil {
		if !ok {
			r.collects.places[at] = true
		}
		return nil
	}
	if last, asked := r.last[bucket]; !ok && asked && bytes.Compare(key, last) > 0 {
		return nil
	}
	if !ok && r.learns != nil {
		value, ok = r.learns.guess(at)
	}
	if !ok {
		r.ask(&question{places: []place{at}})
		value = r.values[at]
	}
	if r.learns != nil {
		r.learns.read(at, value)
	}
	return value
}

// fetch returns the first pairs of a range, about as many as wanted.
func (r *reader) fetch(of keyRange, most int) found {
	answer, ok := r.ranges[of]
	if r.collects != nil {
		if !ok {
			r.collects.ranges[of] = most
		}
		return found{complete: true}
	}
	if !ok {
		r.ask(&question{ranges: []keyRange{of}, most: []int{most}})
		answer = r.ranges[of]
	}
	if r.learns != nil {
		r.learns.readRange(of, answer)
	} else if r.forget {
		delete(r.ranges, of)
	}
	return answer
}

// prefetch requests everything unknown that the given function needs, in one round trip.
func (r *reader) prefetch(reads func()) {
	asked := newLearnt()
	func() {
		outer := r.collects
		r.collects = &asked
		defer func() { r.collects = outer }()
		reads()
	}()
	if r.collects != nil {
		r.collects.add(asked)
		return
	}
	if r.learns != nil {
		maps.DeleteFunc(asked.places, func(at place, _ bool) bool { _, ok := r.learns.guess(at); return ok })
	}
	if len(asked.places)+len(asked.ranges) > 0 {
		r.ask(asked.question())
	}
}

// add adds the answer for a range, and its records.
func (r *reader) add(of keyRange, answer found) {
	r.ranges[of] = answer
	if of.records == tables.BucketCount {
		return
	}
	for _, p := range answer.pairs {
		if p.record != nil {
			r.values[place{of.records, string(owner(p.key, p.value))}] = p.record
		}
	}
}

// owner returns the key of the record to which an entry points; see tables.Ahead.
func owner(key, value []byte) []byte {
	if len(value) > 0 {
		return value
	}
	return key[max(0, len(key)-16):]
}
