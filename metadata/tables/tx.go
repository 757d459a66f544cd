package tables

import (
	"bytes"
	"fmt"
	"iter"
	"time"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// State is the state that every commit changes and the next commit continues.
type State struct {
	Last   metadata.Stamp     // the last stamp given out
	Inline metadata.BodyCount // count of the inline bodies
}

// Tx provides the tables in one transaction of an engine. A write transaction may run several
// operations one after the other. Each runs between Begin and the function that Begin returns. A Tx
// is not safe for concurrent use.
type Tx struct {
	kv       KV
	writable bool
	cost     Cost

	now   func() time.Time
	state State        // as of this transaction
	log   *audit.State // state of the audit log as of this transaction; nil: not read yet
	// Entries were appended to the log.
	logged bool

	version       uint64 // version of the visible access rows; 0: unknown
	accessChanged bool   // the transaction has changed access rows

	// State of the current operation.
	wrote  bool
	failed error // first failed write or detected damage; the operation is then rolled back, whatever it returns
}

// Cost is the cost of the listings in a transaction.
type Cost struct {
	Index   int // cursor steps in indexes, including seeks
	Records int // records that were read
}

// Read returns the tables in a read transaction. access is the version of the visible access rows;
// 0 means unknown.
func Read(kv KV, access uint64) *Tx { return &Tx{kv: kv, version: access} }

// Write returns the tables in a write transaction that continues a state. Stamps follow the clock
// now.
func Write(kv KV, state State, access uint64, now func() time.Time) *Tx {
	return &Tx{kv: kv, writable: true, state: state, version: access, now: now}
}

// Begin begins an operation. The returned function ends it with its error, and returns the final
// error. If it reports the transaction as spoiled, nothing of the transaction may be committed.
// Otherwise a failed operation has changed nothing, and its stamps are free again.
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

// Wrote reports whether the latest operation has written.
func (t *Tx) Wrote() bool { return t.wrote }

// Failed returns the reason why the operation must fail, whatever it returns. It returns nil if
// there is no such reason.
func (t *Tx) Failed() error { return t.failed }

// State returns the state as of this transaction.
func (t *Tx) State() State { return t.state }

// ChangedAccess reports whether the transaction has changed rows that decide permissions.
func (t *Tx) ChangedAccess() bool { return t.accessChanged }

// Cost returns the cost of the listings in this transaction.
func (t *Tx) Cost() Cost { return t.cost }

// Finish writes the rows that each commit writes once: the state, if it differs from before, and
// the state of the log.
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

// get returns the value under a key, or nil. The value is valid until the transaction ends.
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

// disordered reports whether a key is out of order after the previous key of its bucket. Then an
// offset within a page is damaged and leads to another row with a valid checksum, so the operation
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

// walk yields the keys and values of a span in a bucket, in ascending order. They are valid until
// the transaction ends.
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
// printed. So the text, which takes as long as the lookup, is built on demand.
type notFound struct {
	in  Bucket
	key string
}

func (e notFound) Error() string { return fmt.Sprintf("tables: %s %x: %v", e.in, e.key, e.Unwrap()) }

func (e notFound) Unwrap() error { return metadata.ErrNotFound }

// decidesAccess reports whether the rows of a bucket decide permissions.
func (b Bucket) decidesAccess() bool {
	switch b {
	case usersBucket, keysBucket, sessionsBucket, privilegesBucket, dataspacesBucket, setsBucket, cascadesBucket:
		return true
	}
	return false
}

// prefetch implements metadata.Tx.Prefetch. It discards all effects of the function, which may find
// nothing.
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
