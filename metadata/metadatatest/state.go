package metadatatest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// state is the content of the store after one commit.
type state struct {
	last    metadata.Stamp
	access  uint64               // version of the access rows
	tables  map[reflect.Type]any // the rows of each table by key, by the type of the rows
	epoch   metadata.Epoch
	entries []metadata.AuditEntry
	log     audit.State
}

func newState(now time.Time) *state {
	s := &state{access: 1, tables: map[reflect.Type]any{}}
	if err := s.tx(func() time.Time { return now }, s).SetEpoch(metadata.NewEpoch(0, now)); err != nil {
		panic(err) // nothing here fails
	}
	return s
}

// clone returns a state that can be changed independently. A transaction copies the maps of rows
// that it changes.
func (s *state) clone() *state {
	c := *s
	c.tables, c.entries = maps.Clone(s.tables), slices.Clone(s.entries)
	return &c
}

// decidesAs reports whether both states give the same permissions.
func (s *state) decidesAs(o *state) bool {
	return !slices.ContainsFunc(nouns, func(n noun) bool { return n.decides && !n.decideEqually(s, o) })
}

// tx returns the tables of this state. A write transaction has a clock, and last is the state
// before it. A read transaction has no clock.
func (s *state) tx(now func() time.Time, last *state) *metadata.Tx {
	t := transaction{s, now != nil, map[reflect.Type]bool{}}
	tx := &metadata.Tx{Lineage: lineage{t}, Audit: auditLog{t}}
	for _, n := range nouns {
		n.bind(t, tx)
	}
	tx.Now = func() metadata.Stamp {
		t.mustWrite()
		return metadata.Stamp(now().UnixMicro())
	}
	tx.Stamp = func() metadata.Stamp {
		t.mustWrite()
		s.last = metadata.NextStamp(s.last, now())
		return s.last
	}
	tx.Access = func() uint64 {
		if s != last && !s.decidesAs(last) {
			return 0
		}
		return last.access
	}
	tx.Prefetch = func(func()) {}
	return tx
}

// lineage is the epoch of a state.
type lineage struct{ transaction }

func (t lineage) Epoch() (metadata.Epoch, error) { return t.epoch, nil }

func (t lineage) Put(epoch metadata.Epoch) error {
	t.mustWrite()
	t.epoch = epoch
	return nil
}

func (t lineage) LastStamp() (metadata.Stamp, error) { return t.last, nil }

// auditLog is the log of a state.
type auditLog struct{ transaction }

func (t auditLog) State() (audit.State, error) { return t.log, nil }

func (t auditLog) Get(number uint64) (metadata.AuditEntry, error) {
	if number >= uint64(len(t.entries)) {
		return metadata.AuditEntry{}, metadata.ErrNotFound
	}
	return t.entries[number], nil
}

func (t auditLog) Entry(number uint64) (e audit.Entry, err error) {
	row, err := t.Get(number)
	if err == nil {
		e, err = row.Entry()
	}
	return e, err
}

func (t auditLog) Append(e metadata.AuditEntry, next audit.State) error {
	t.mustWrite()
	if size := uint64(len(t.entries)); e.Number != size || next.Size != size+1 {
		return fmt.Errorf("metadatatest: entry %d does not follow %d entries", e.Number, size)
	}
	t.entries, t.log = append(t.entries, e), next
	return nil
}

func (t auditLog) Replace(e metadata.AuditEntry) error {
	t.mustWrite()
	t.entries[e.Number] = e
	return nil
}
