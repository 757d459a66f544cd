package bolt

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"labshelf/metadata"
)

// The rows of the meta bucket.
const (
	schemaRow       = "schema"
	lastStampRow    = "last stamp"
	secretRow       = "token secret"
	scrubRow        = "scrub"              // absent until a scrub has begun
	inlineRow       = "held bodies"        // absent until a body was inline
	unreferencedRow = "unreferenced blobs" // absent until a blob was recorded
	epochRow        = "epoch"              // since version 6
	auditRow        = "audit"              // since version 9
	fillingRow      = "filling"            // absent until instruments have followed a part of the log
)

// metaRow reads a row of the meta bucket that every file has.
func metaRow[T any](t *tx, row string, fields func(*codec, *T)) (v T, err error) {
	v, err = unseal(nameKey(row), t.get(metaBucket, nameKey(row)), fields)
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, row, err)
	}
	return v, err
}

// putMetaRow writes a row of the meta bucket.
func putMetaRow[T any](t *tx, row string, fields func(*codec, *T), v T) {
	t.put(metaBucket, nameKey(row), seal(nameKey(row), fields, v))
}

type scrub struct{ *tx }

func (s scrub) Get() (metadata.ScrubState, error) {
	return value(s.tx, metaBucket, nameKey(scrubRow), scrubFields)
}

func (s scrub) Put(state metadata.ScrubState) error {
	s.mustWrite()
	putMetaRow(s.tx, scrubRow, scrubFields, state)
	return s.failed
}

type filling struct{ *tx }

func (f filling) Get() (metadata.FillState, error) {
	return value(f.tx, metaBucket, nameKey(fillingRow), fillFields)
}

func (f filling) Put(state metadata.FillState) error {
	f.mustWrite()
	putMetaRow(f.tx, fillingRow, fillFields, state)
	return f.failed
}

// epochVersion is the schema version that added the epoch.
const epochVersion = 6

// lineage is the row of the epoch.
type lineage struct{ *tx }

func (l lineage) Epoch() (metadata.Epoch, error) {
	return value(l.tx, metaBucket, nameKey(epochRow), epochFields)
}

func (l lineage) Put(epoch metadata.Epoch) error {
	l.mustWrite()
	putMetaRow(l.tx, epochRow, epochFields, epoch)
	return l.failed
}

// LastStamp reads the row in a read transaction; the committer writes it with each commit. A write transaction knows what it has given
// out.
func (l lineage) LastStamp() (metadata.Stamp, error) {
	if l.bolt.Writable() {
		return l.last, nil
	}
	return metaRow(l.tx, lastStampRow, lastStampFields)
}

// addEpoch gives a file its first epoch, which continues what is in it.
func addEpoch(btx *bbolt.Tx) error {
	t := &tx{bolt: btx}
	last, err := metaRow(t, lastStampRow, lastStampFields)
	if err != nil {
		return err
	}
	return lineage{t}.Put(metadata.NewEpoch(last, time.Now()))
}

// putLogState writes how far the audit log is, if entries were added.
func (t *tx) putLogState() {
	if t.logged {
		putMetaRow(t, auditRow, auditStateFields, *t.log)
	}
}

// beginLog gives a file the first entry of its audit log, which continues what is in it.
func beginLog(btx *bbolt.Tx) error {
	t := &tx{bolt: btx}
	epoch, err := lineage{t}.Epoch()
	if err != nil {
		return err
	}
	if t.last, err = metaRow(t, lastStampRow, lastStampFields); err != nil {
		return err
	}
	err = t.tables().SetEpoch(epoch)
	t.putLogState()
	return errors.Join(err, t.failed)
}
