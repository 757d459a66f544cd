package storage

import (
	"context"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// growing is a metadata store that reports when its audit log has grown, and keeps the last entries
// for followers of the log.
type growing struct {
	metadata.Store
	recent *recent
	grown  func()
}

// Growing returns the store, wrapped so that it calls grown after each change that has added to the
// audit log and is on stable storage. grown must return soon and must not call the store. In
// ViewDurable, Audit.Entry returns recent entries of this process from memory.
func Growing(meta metadata.Store, grown func()) metadata.Store {
	return growing{meta, new(recent), grown}
}

// ViewDurable implements metadata.Store.
func (g growing) ViewDurable(ctx context.Context, fn func(*metadata.Tx) error) error {
	return g.Store.ViewDurable(ctx, func(tx *metadata.Tx) error {
		tx.Audit = recentLog{tx.Audit, g.recent}
		return fn(tx)
	})
}

// Update implements metadata.Store.
func (g growing) Update(ctx context.Context, fn func(*metadata.Tx) error) error {
	return g.noting(fn, func(fn func(*metadata.Tx) error) error { return g.Store.Update(ctx, fn) })
}

// UpdateBackground implements metadata.Store.
func (g growing) UpdateBackground(ctx context.Context, fn func(*metadata.Tx) error) error {
	return g.noting(fn, func(fn func(*metadata.Tx) error) error { return g.Store.UpdateBackground(ctx, fn) })
}

// noting runs update with fn, and takes the entries that the last run of fn has added to the log.
func (g growing) noting(fn func(*metadata.Tx) error, update func(func(*metadata.Tx) error) error) error {
	var log growingLog
	err := update(func(tx *metadata.Tx) error {
		log = growingLog{AuditLog: tx.Audit}
		tx.Audit = &log
		return fn(tx)
	})
	if err == nil && len(log.added) > 0 {
		g.recent.add(log.added)
		g.grown()
	}
	return err
}

// growingLog is the log in a write transaction.
type growingLog struct {
	metadata.AuditLog
	added []metadata.AuditEntry
}

func (l *growingLog) Append(e metadata.AuditEntry, next audit.State) error {
	l.added = append(l.added, e)
	return l.AuditLog.Append(e, next)
}

// recentLog is the log in a read transaction.
type recentLog struct {
	metadata.AuditLog
	recent *recent
}

func (l recentLog) Entry(number uint64) (audit.Entry, error) {
	log, err := l.State() // already read by this transaction
	if e, ok := l.recent.get(number); ok && err == nil && number < log.Size {
		return e, nil
	}
	return l.AuditLog.Entry(number)
}
