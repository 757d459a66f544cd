package tables

import (
	"errors"
	"fmt"

	"labshelf/metadata"
)

// The keys of the rows in the meta bucket.
const (
	schemaRow       = "schema"
	lastStampRow    = "last stamp"
	secretRow       = "token secret"
	scrubRow        = "scrub"              // missing before the first scrub
	inlineRow       = "held bodies"        // missing before the first inline body
	unreferencedRow = "unreferenced blobs" // missing before the first unreferenced blob
	epochRow        = "epoch"              // since version 6
	auditRow        = "audit"              // since version 9
	fillingRow      = "filling"            // missing before the instruments have followed a part of the log
)

// metaRow reads a row of the meta bucket that always exists.
func metaRow[T any](t *Tx, row string, fields func(*codec, *T)) (v T, err error) {
	v, err = unseal(nameKey(row), t.get(metaBucket, nameKey(row)), fields)
	if err != nil {
		err = fmt.Errorf("tables: %s %s: %w", metaBucket, row, err)
	}
	return v, err
}

// putMetaRow writes a row of the meta bucket.
func putMetaRow[T any](t *Tx, row string, fields func(*codec, *T), v T) {
	t.put(metaBucket, nameKey(row), seal(nameKey(row), fields, v))
}

// putSingle writes the row of a table with one row.
func putSingle[T any](t *Tx, row string, fields func(*codec, *T), v T) error {
	t.mustWrite()
	putMetaRow(t, row, fields, v)
	return t.failed
}

type scrub struct{ *Tx }

func (s scrub) Get() (metadata.ScrubState, error) {
	return value(s.Tx, metaBucket, nameKey(scrubRow), scrubFields)
}

func (s scrub) Put(row metadata.ScrubState) error { return putSingle(s.Tx, scrubRow, scrubFields, row) }

type filling struct{ *Tx }

func (f filling) Get() (metadata.FillState, error) {
	return value(f.Tx, metaBucket, nameKey(fillingRow), fillFields)
}

func (f filling) Put(row metadata.FillState) error {
	return putSingle(f.Tx, fillingRow, fillFields, row)
}

// lineage accesses the row of the epoch.
type lineage struct{ *Tx }

func (l lineage) Epoch() (metadata.Epoch, error) {
	return value(l.Tx, metaBucket, nameKey(epochRow), epochFields)
}

func (l lineage) Put(epoch metadata.Epoch) error {
	l.mustWrite()
	putMetaRow(l.Tx, epochRow, epochFields, epoch)
	return l.failed
}

// LastStamp reads the row in a read transaction; the committer writes the row with each commit. In
// a write transaction, it returns the last stamp that the transaction has given out.
func (l lineage) LastStamp() (metadata.Stamp, error) {
	if l.writable {
		return l.state.Last, nil
	}
	return metaRow(l.Tx, lastStampRow, lastStampFields)
}

// addEpoch adds the first epoch, which continues the existing metadata.
func addEpoch(t *Tx) error {
	last, err := metaRow(t, lastStampRow, lastStampFields)
	if err != nil {
		return err
	}
	return lineage{t}.Put(metadata.NewEpoch(last, t.now()))
}

// putLogState writes the state of the audit log if entries were appended.
func (t *Tx) putLogState() {
	if t.logged {
		putMetaRow(t, auditRow, auditStateFields, *t.log)
	}
}

// beginLog adds the first entry of the audit log, which continues the existing metadata.
func beginLog(t *Tx) error {
	epoch, err := lineage{t}.Epoch()
	if err != nil {
		return err
	}
	if t.state.Last, err = metaRow(t, lastStampRow, lastStampFields); err != nil {
		return err
	}
	err = t.Contract().SetEpoch(epoch)
	t.putLogState()
	return errors.Join(err, t.failed)
}
