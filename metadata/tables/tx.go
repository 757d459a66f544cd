package tables

import (
	"bytes"
	"fmt"
	"iter"
	"time"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// State is what every commit changes and the next one continues.
type State struct {
	Last   metadata.Stamp     // the last one given out
	Inline metadata.BodyCount // of the inline bodies
}

// Tx is the tables in one transaction of an engine. Several operations may run in a write
// transaction, one after the other, each between Begin and the function that this returns. It is
// not safe for concurrent use.
type Tx struct {
	kv       KV
	writable bool
	cost     Cost

	now   func() time.Time
	state State        // as of this transaction
	log   *audit.State // of the audit log, likewise; nil: it has not been read
	// Entries were added to the log.
	logged bool

	version       uint64 // of the access rows that it sees; 0: unknown
	accessChanged bool   // it has changed some of them

	// Of the operation that runs now.
	wrote  bool
	failed error // the error of its first write that failed, or a damage that it met; it is then rolled back, whatever it returns
}

// Cost is what listings have cost in a transaction.
type Cost struct {
	Index   int // steps of cursors in indexes; a seek is one
	Records int // records read
}

// Read returns the tables in a read transaction. access is the version of the access rows that it
// sees; 0: unknown.
func Read(kv KV, access uint64) *Tx { return &Tx{kv: kv, version: access} }

// Write returns the tables in a write transaction, which continues a state. Stamps follow the clock
// now.
func Write(kv KV, state State, access uint64, now func() time.Time) *Tx {
	return &Tx{kv: kv, writable: true, state: state, version: access, now: now}
}

// Begin begins an operation. The function that it returns ends it with its error, and returns the
// error that counts. If the operation spoiled the transaction, nothing of the transaction may be
// committed; else, if it failed, it has changed nothing, and the stamps that it took are free
// again.
func (t *Tx) Begin() (end func(error) (spoiled bool, err error)) {
	before := t.state.Last
	t.wrote, t.failed = false, nil
	return func(err error) (bool, error) {
		if err == nil {
			err = t.failed
		}
		if err != nil {
			t.state.Last = before
		}
		return err != nil && t.wrote, err
	}
}

// Wrote tells whether the operation that began last has written.
func (t *Tx) Wrote() bool { return t.wrote }

// Failed returns why the operation must fail, whatever it returns; nil: there is no reason.
func (t *Tx) Failed() error { return t.failed }

// State returns the state as of this transaction.
func (t *Tx) State() State { return t.state }

// ChangedAccess tells whether the transaction has changed rows that decide who may do what, and
// where.
func (t *Tx) ChangedAccess() bool { return t.accessChanged }

// Cost returns what the listings of this transaction have cost.
func (t *Tx) Cost() Cost { return t.cost }

// Finish writes what a commit writes once for all its operations: the state, which differs from
// that before, and the state of the log.
func (t *Tx) Finish(before State) error {
	t.failed = nil
	putMetaRow(t, lastStampRow, lastStampFields, t.state.Last)
	if t.state.Inline != before.Inline {
		putMetaRow(t, inlineRow, bodyCountFields, t.state.Inline)
	}
	t.putLogState()
	return t.failed
}

func (t *Tx) stamp() metadata.Stamp {
	t.mustWrite()
	t.state.Last = metadata.NextStamp(t.state.Last, t.now())
	return t.state.Last
}

func (t *Tx) clock() metadata.Stamp {
	t.mustWrite()
	return metadata.Stamp(t.now().UnixMicro())
}

func (t *Tx) mustWrite() {
	if !t.writable {
		panic(errReadOnly)
	}
}

// get returns the value under a key, nil if there is none. It is valid as long as the transaction.
func (t *Tx) get(b Bucket, key []byte) []byte { return t.kv.Get(b, key) }

func (t *Tx) put(b Bucket, key, value []byte) {
	t.wrote, t.accessChanged = true, t.accessChanged || b.decidesAccess()
	if err := t.kv.Put(b, key, value); err != nil && t.failed == nil {
		t.failed = fmt.Errorf("tables: put into %s: %w", b, err)
	}
}

func (t *Tx) delete(b Bucket, key []byte) {
	t.wrote, t.accessChanged = true, t.accessChanged || b.decidesAccess()
	if err := t.kv.Delete(b, key); err != nil && t.failed == nil {
		t.failed = fmt.Errorf("tables: delete from %s: %w", b, err)
	}
}

// disordered tells whether a key that follows another one in a bucket is out of order. Then an
// offset within a page is damaged, and leads to another row, whose checksum is right; the operation
// fails.
func (t *Tx) disordered(b Bucket, before, key []byte, backwards bool) bool {
	if order := bytes.Compare(before, key); key == nil || order < 0 && !backwards || order > 0 && backwards {
		return false
	}
	if t.failed == nil {
		t.failed = fmt.Errorf("tables: %s %x comes after %x: %w", b, key, before, metadata.ErrRecordDamaged)
	}
	return true
}

// walk yields the keys and values in a span of a bucket, ascending. They are valid as long as the
// transaction.
func (t *Tx) walk(b Bucket, s span) iter.Seq2[[]byte, []byte] { return t.span(b, s, false) }

func (t *Tx) span(b Bucket, s span, backwards bool) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		cursor := t.kv.Cursor(b, backwards)
		if cursor == nil {
			return
		}
		key, value := cursor.Seek(s.lo, s.hi)
		for s.contains(key) && yield(key, value) {
			before := key
			if key, value = cursor.Next(); t.disordered(b, before, key, backwards) {
				return
			}
		}
	}
}

// notFound is metadata.ErrNotFound with the key. Most of these errors are expected and never
// printed, so the text, which takes as long as the lookup, is made when it is asked for.
type notFound struct {
	in  Bucket
	key string
}

func (e notFound) Error() string { return fmt.Sprintf("tables: %s %x: %v", e.in, e.key, e.Unwrap()) }

func (e notFound) Unwrap() error { return metadata.ErrNotFound }

// decidesAccess tells whether the rows of a bucket decide who may do what, and where.
func (b Bucket) decidesAccess() bool {
	switch b {
	case usersBucket, keysBucket, sessionsBucket, privilegesBucket, dataspacesBucket, setsBucket, cascadesBucket:
		return true
	}
	return false
}

// prefetch implements metadata.Tx.Prefetch. What reads concludes from finding nothing does not
// count.
func (t *Tx) prefetch(reads func()) {
	before := *t
	t.kv.(Prefetcher).Prefetch(func() {
		defer func() { *t = before }()
		reads()
	})
}

// access implements metadata.Tx.
func (t *Tx) access() uint64 {
	if t.accessChanged {
		return 0
	}
	return t.version
}
