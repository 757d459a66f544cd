package core

import (
	"context"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// AuditEntry is an entry of the audit log, as a caller may see it.
type AuditEntry struct {
	Number uint64
	audit.Entry
	TextsNow, AddressNow string // what lies beside it; "": there is nothing, it was erased, or the caller does not see it
	Erased               bool   // something beside it was
}

// Time returns the stamp of a change, or the time at which an epoch began.
func (e AuditEntry) Time() metadata.Stamp {
	if epoch, err := audit.ParseEpoch(e.Values); e.Action == audit.EpochBegin && err == nil {
		return max(metadata.Stamp(e.Stamp), metadata.Stamp(epoch.Began))
	}
	return metadata.Stamp(e.Stamp)
}

// ReadAuditEntry reads the entry of the audit log with a number.
func ReadAuditEntry(tx *metadata.Tx, number uint64) (AuditEntry, error) {
	row, err := tx.Audit.Get(number)
	if err != nil {
		return AuditEntry{}, err
	}
	e, err := row.Entry()
	erased := row.Texts.Digest() != e.Texts || row.Address.Digest() != e.Address
	return AuditEntry{number, e, row.Texts.Text, row.Address.Text, erased}, err
}

// LogSize returns how many entries the audit log has.
func (s *Core) LogSize(ctx context.Context) (size uint64, err error) {
	err = s.Stores.View(ctx, func(tx *metadata.Tx) error {
		log, err := tx.Audit.State()
		size = log.Size
		return err
	})
	return size, err
}
