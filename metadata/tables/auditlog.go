package tables

import (
	"errors"
	"fmt"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

type auditLog struct{ *Tx }

// State reads the row once in a transaction. Writers store it once, after the last operation of the
// commit.
func (l auditLog) State() (audit.State, error) {
	if l.log != nil {
		return *l.log, nil
	}
	state, err := value(l.Tx, metaBucket, nameKey(auditRow), auditStateFields)
	if err == nil {
		l.log = &state
	}
	return state, err
}

func (l auditLog) Get(number uint64) (e metadata.AuditEntry, err error) {
	key := entryKey(number)
	record := l.get(auditBucket, key)
	if record == nil {
		return e, notFound{auditBucket, string(key)}
	}
	e.Number = number // only in the key
	if err = decode(&codec{}, key, record, auditFields, &e); err != nil {
		err = fmt.Errorf("tables: %s %x: %w", auditBucket, key, err)
	}
	return e, err
}

func (l auditLog) Entry(number uint64) (e audit.Entry, err error) {
	row, err := l.Get(number)
	if err == nil {
		e, err = row.Entry()
	}
	return e, err
}

func (l auditLog) Append(e metadata.AuditEntry, next audit.State) error {
	l.mustWrite()
	if before, err := l.State(); err != nil || e.Number != before.Size || next.Size != before.Size+1 {
		return errors.Join(err, fmt.Errorf("tables: %s %d: %w", auditBucket, e.Number, ErrTaken))
	}
	l.log, l.logged = &next, true
	return l.Replace(e)
}

func (l auditLog) Replace(e metadata.AuditEntry) error {
	l.mustWrite()
	key := entryKey(e.Number)
	l.put(auditBucket, key, seal(key, auditFields, e))
	return l.failed
}
