package core

import (
	"context"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// AuditEntry is an entry of the audit log, with the parts that the caller may see.
type AuditEntry struct {
	Number uint64
	audit.Entry
	TextsNow, AddressNow string // stored next to the entry; "" if empty, erased or hidden
	Erased               bool   // a text or the address was erased
}

// Time returns the stamp of a change. For the beginning of an epoch it returns the later of the
// stamp and the time at which the epoch began.
func (e AuditEntry) Time() metadata.Stamp {
	if epoch, err := audit.ParseEpoch(e.Values); e.Action == audit.EpochBegin && err == nil {
		return max(metadata.Stamp(e.Stamp), metadata.Stamp(epoch.Began))
	}
	return metadata.Stamp(e.Stamp)
}

// ReadAuditEntry reads an entry of the audit log by its number.
func ReadAuditEntry(tx *metadata.Tx, number uint64) (AuditEntry, error) {
	row, err := tx.Audit.Get(number)
	if err != nil {
		return AuditEntry{}, err
	}
	e, err := row.Entry()
	erased := row.Texts.Digest() != e.Texts || row.Address.Digest() != e.Address
	return AuditEntry{number, e, row.Texts.Text, row.Address.Text, erased}, err
}

// LogSize returns the number of entries in the audit log.
func (s *Core) LogSize(ctx context.Context) (size uint64, err error) {
	err = s.Stores.View(ctx, func(tx *metadata.Tx) error {
		log, err := tx.Audit.State()
		size = log.Size
		return err
	})
	return size, err
}
