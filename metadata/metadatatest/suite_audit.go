package metadatatest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"labshelf/formats/audit"
	"labshelf/metadata"
)

// auditTests test the audit log.
func auditTests() map[string]func(*testing.T, *store) {
	return map[string]func(*testing.T, *store){
		"the log begins with the epoch of the store":      testLogBegins,
		"entries are read in order, also after reopening": testEntries,
		"the hashes of the log match its leaves":          testLogTree,
		"a failed operation does not change the log":      testLogAtomic,
		"the log refuses entries out of order":            testLogOrder,
		"entries with erased values are kept":             testReplace,
		"an epoch has an entry that continues the log":    testEpochEntry,
		"a read transaction does not log":                 testLogReadOnly,
	}
}

func stateOf(tx *metadata.Tx) (audit.State, error) { return tx.Audit.State() }

// entriesOf reads the whole log. It fails if the log has a gap or continues after its end.
func entriesOf(tx *metadata.Tx) (entries []metadata.AuditEntry, err error) {
	state, err := tx.Audit.State()
	if err != nil {
		return nil, err
	}
	for number := range state.Size {
		e, err := tx.Audit.Get(number)
		if err != nil || e.Number != number {
			return nil, errors.Join(err, fmt.Errorf("entry %d has the number %d", number, e.Number))
		}
		alone, err := tx.Audit.Entry(number)
		if said, unread := e.Entry(); err != nil || unread != nil || alone != said {
			return nil, errors.Join(err, unread, fmt.Errorf("entry %d is %+v, and read alone %+v", number, said, alone))
		}
		entries = append(entries, e)
	}
	_, err = tx.Audit.Get(state.Size)
	if _, alone := tx.Audit.Entry(state.Size); !errors.Is(err, metadata.ErrNotFound) || !errors.Is(alone, metadata.ErrNotFound) {
		return nil, fmt.Errorf("the entry after the last one: %w, and read alone %w", err, alone)
	}
	return entries, nil
}

// logged appends entries with different values. Some have no values.
func logged(tx *metadata.Tx, count int) error {
	for i := range count {
		texts, address := fmt.Sprintf(`{"name":"n-%d"}`, i), "::1"
		if i%3 == 0 {
			texts, address = "", ""
		}
		e := audit.Entry{Action: audit.ResourceCreate, Stamp: int64(tx.Stamp()), User: id(1), Object: audit.Object{Kind: audit.Resource, ID: id(2)}}
		before, err := tx.Audit.State()
		if err != nil {
			return err
		}
		number, err := tx.Log(e, texts, address)
		if err != nil || number != before.Size {
			return errors.Join(err, fmt.Errorf("entry %d is logged after %d entries", number, before.Size))
		}
		row, err := tx.Audit.Get(number)
		if err != nil || row.Texts.Text != texts || row.Address.Text != address {
			return errors.Join(err, fmt.Errorf("entry %d is %+v in its transaction", number, row))
		}
	}
	return nil
}

func testLogBegins(t *testing.T, s *store) {
	entries := view(t, s, entriesOf)
	if len(entries) != 1 {
		t.Fatalf("a new store has %d entries", len(entries))
	}
	holdsEpochEntry(t, entries, view(t, s, epochOf), 0)
}

// holdsEpochEntry fails the test unless the last entry begins the epoch, names the tree of the
// entries before it, and has the last stamp taken before it.
func holdsEpochEntry(t *testing.T, entries []metadata.AuditEntry, epoch metadata.Epoch, last metadata.Stamp) {
	t.Helper()
	before := audit.State{}
	for _, e := range entries[:len(entries)-1] {
		_, before = before.Append(e.Leaf)
	}
	e, err := entries[len(entries)-1].Entry()
	isError(t, "an entry of an epoch", err, nil)
	begun, err := audit.ParseEpoch(e.Values)
	isError(t, "the values of an epoch", err, nil)
	same(t, "the entry", e, audit.Entry{Action: audit.EpochBegin, Stamp: int64(last), Values: e.Values})
	same(t, "the values of the entry", begun, audit.Epoch{
		ID: epoch.ID.String(), Base: int64(epoch.Base), Began: int64(epoch.Began), Size: before.Size, Root: before.Root(),
	})
}

func testEntries(t *testing.T, s *store) {
	const each = 5
	first := view(t, s, entriesOf)
	for _, commit := range []func() error{
		func() error { return s.Update(t.Context(), func(tx *metadata.Tx) error { return logged(tx, each) }) },
		func() error {
			return s.UpdateBackground(t.Context(), func(tx *metadata.Tx) error { return logged(tx, each) })
		},
	} {
		isError(t, "log", commit(), nil)
	}
	written := view(t, s, entriesOf)
	if len(written) != 1+2*each {
		t.Fatalf("the log has %d entries", len(written))
	}
	same(t, "the entry of before", written[0], first[0])
	for i, e := range written[1:] {
		said, err := e.Entry()
		isError(t, "parse an entry", err, nil)
		if said.Texts != e.Texts.Digest() || said.Address != e.Address.Digest() || (said.Texts == [32]byte{}) != (i%each%3 == 0) {
			t.Errorf("entry %d has %+v for %+v", i+1, said, e)
		}
		last, err := written[i].Entry()
		if isError(t, "parse an entry", err, nil); said.Stamp <= last.Stamp {
			t.Errorf("entry %d has the stamp %d, after %d", i+1, said.Stamp, last.Stamp)
		}
	}
	state := view(t, s, stateOf)
	s.reopen(t)
	same(t, "the log after opening again", view(t, s, entriesOf), written)
	same(t, "its state", view(t, s, stateOf), state)
	s.update(t, func(tx *metadata.Tx) error { return logged(tx, 1) })
	same(t, "what was there before another one", view(t, s, entriesOf)[:len(written)], written)
}

// testLogTree compares the stored hashes, at every size, with the hashes that
// golang.org/x/mod/sumdb/tlog computes from the leaves.
func testLogTree(t *testing.T, s *store) {
	s.update(t, func(tx *metadata.Tx) error { return logged(tx, 40) })
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, err error) {
		for _, index := range indexes {
			list = append(list, hashes[index])
		}
		return list, nil
	})
	for i, e := range view(t, s, entriesOf) {
		more, err := tlog.StoredHashes(int64(i), e.Leaf, reader)
		isError(t, "hash", err, nil)
		if hashes = append(hashes, more...); len(more) > 1 || len(e.Completed) > 0 {
			same(t, fmt.Sprintf("hashes that entry %d completes", i), e.Completed, more[1:])
		}
		want, err := tlog.TreeHash(int64(i)+1, reader)
		isError(t, "hash", err, nil)
		head := view(t, s, func(tx *metadata.Tx) (metadata.SignedHead, error) { return tx.SignHead([32]byte{}, uint64(i)+1) })
		if head.Root != want || head.Size != uint64(i)+1 {
			t.Errorf("the head is %+v, want the root %v of %d entries", head, want, i+1)
		}
	}
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		_, err := tx.SignHead([32]byte{}, 42)
		return err
	})
	isError(t, "the head of more entries than there are", err, metadata.ErrNotFound)
}

func testLogAtomic(t *testing.T, s *store) {
	s.update(t, func(tx *metadata.Tx) error { return logged(tx, 2) })
	entries, state := view(t, s, entriesOf), view(t, s, stateOf)
	for name, commit := range map[string]func(func(*metadata.Tx) error) error{
		"update":            func(fn func(*metadata.Tx) error) error { return s.Update(t.Context(), fn) },
		"background update": func(fn func(*metadata.Tx) error) error { return s.UpdateBackground(t.Context(), fn) },
	} {
		err := commit(func(tx *metadata.Tx) error {
			if err := errors.Join(logged(tx, 3), put(tx, filled[metadata.User](false))); err != nil {
				return err
			}
			erased, err := tx.Audit.Get(2)
			erased.Texts = audit.Sealed{}
			return errors.Join(err, tx.Audit.Replace(erased), errOnPurpose)
		})
		isError(t, name, err, errOnPurpose)
		same(t, "the log after "+name, view(t, s, entriesOf), entries)
		same(t, "its state after "+name, view(t, s, stateOf), state)
	}
	s.reopen(t)
	same(t, "the log after opening again", view(t, s, entriesOf), entries)
	s.update(t, func(tx *metadata.Tx) error { return logged(tx, 1) })
	same(t, "the log with another entry", len(view(t, s, entriesOf)), len(entries)+1)
}

// testLogOrder appends an existing entry, and one after a gap.
func testLogOrder(t *testing.T, s *store) {
	s.update(t, func(tx *metadata.Tx) error { return logged(tx, 2) })
	entries := view(t, s, entriesOf)
	err := s.Update(t.Context(), func(tx *metadata.Tx) error {
		state, err := tx.Audit.State()
		if err != nil {
			return err
		}
		_, next := state.Append(entries[1].Leaf)
		for _, wrong := range []struct {
			name string
			e    metadata.AuditEntry
			next audit.State
		}{
			{"an existing entry", entries[1], state},
			{"an existing entry, as the last one", entries[1], next},
			{"an entry behind a gap", metadata.AuditEntry{Number: state.Size + 1, Leaf: entries[1].Leaf}, next},
		} {
			if err := tx.Audit.Append(wrong.e, wrong.next); err == nil {
				return fmt.Errorf("%s: appended", wrong.name)
			}
		}
		return errOnPurpose
	})
	isError(t, "entries out of order", err, errOnPurpose)
	same(t, "the log", view(t, s, entriesOf), entries)
}

func testReplace(t *testing.T, s *store) {
	s.update(t, func(tx *metadata.Tx) error { return logged(tx, 3) })
	want, state := view(t, s, entriesOf), view(t, s, stateOf)
	want[2].Texts, want[3].Address = audit.Sealed{}, audit.Sealed{}
	s.update(t, func(tx *metadata.Tx) error { return errors.Join(tx.Audit.Replace(want[2]), tx.Audit.Replace(want[3])) })
	for range 2 {
		same(t, "the log", view(t, s, entriesOf), want)
		same(t, "its state", view(t, s, stateOf), state)
		s.reopen(t)
	}
}

func testEpochEntry(t *testing.T, s *store) {
	s.update(t, func(tx *metadata.Tx) error { return logged(tx, 4) })
	before, last := view(t, s, entriesOf), view(t, s, lastStampOf)
	epoch, err := metadata.BeginEpoch(t.Context(), s.Store, time.UnixMicro(int64(last)+1))
	isError(t, "begin an epoch", err, nil)
	for range 2 {
		after := view(t, s, entriesOf)
		if len(after) != len(before)+1 {
			t.Fatalf("%d entries, behind %d", len(after), len(before))
		}
		same(t, "the entries of before", after[:len(before)], before)
		holdsEpochEntry(t, after, epoch, last)
		s.reopen(t)
	}
	s.update(t, func(tx *metadata.Tx) error { return logged(tx, 1) })
}

func testLogReadOnly(t *testing.T, s *store) {
	entries := view(t, s, entriesOf)
	err := s.View(t.Context(), func(tx *metadata.Tx) error {
		for name, write := range map[string]func() error{
			"Log":     func() error { _, err := tx.Log(audit.Entry{Stamp: 1}, "", ""); return err },
			"Replace": func() error { return tx.Audit.Replace(entries[0]) },
			"Append":  func() error { return tx.Audit.Append(metadata.AuditEntry{Number: 1}, audit.State{Size: 2}) },
		} {
			if !panics(func() { _ = write() }) {
				return fmt.Errorf("%s does not panic", name)
			}
		}
		return nil
	})
	isError(t, "a read transaction", err, nil)
}
