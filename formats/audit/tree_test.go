package audit_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"labshelf/formats/audit"
)

// kept contains the parts of the tree that are stored with entries.
type kept struct {
	leaves    [][]byte
	completed [][]audit.Hash
}

func (k *kept) Node(level int, number uint64) (audit.Hash, error) {
	return audit.NodeOf(k.leaves[number], k.completed[number], level)
}

// TestTreeEqualsTlog tests that at each size, the root and the proofs equal the results of Go's
// checksum database.
func TestTreeEqualsTlog(t *testing.T) {
	t.Parallel()
	const most = 300
	var stored []audit.Hash // in the form of tlog
	theirs := tlog.HashReaderFunc(func(indexes []int64) (list []audit.Hash, err error) {
		for _, index := range indexes {
			list = append(list, stored[index])
		}
		return list, nil
	})
	ours, state := &kept{}, audit.State{}
	roots := []audit.Hash{sha256.Sum256(nil)}
	for n := range most {
		if state.Root() != roots[n] || !state.Valid() || state.Size != uint64(n) {
			t.Fatalf("the state of %d entries has %d entries or another root", n, state.Size)
		}
		leaf := fmt.Appendf(nil, "leaf %d", n)
		hashes, err := tlog.StoredHashes(int64(n), leaf, theirs)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, hashes...)
		completed, next := state.Append(leaf)
		if !slices.Equal(completed, hashes[1:]) || len(completed) != audit.Completed(uint64(n)) {
			t.Fatalf("entry %d completes %d subtrees, other than in tlog", n, len(completed))
		}
		state, ours.leaves, ours.completed = next, append(ours.leaves, leaf), append(ours.completed, completed)
		root, err := tlog.TreeHash(int64(n+1), theirs)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
	}
	for size := range uint64(most + 1) {
		if root, err := audit.Root(ours, size); root != roots[size] || err != nil {
			t.Fatalf("the root of %d entries differs: %v", size, err)
		}
	}
	for size := uint64(1); size <= most; size += 1 + size/17 {
		proofs(t, ours, roots, size)
	}
}

// proofs checks the proofs for the tree of one size with tlog.
func proofs(t *testing.T, ours *kept, roots []audit.Hash, size uint64) {
	t.Helper()
	for n := range size {
		path, err := audit.ProveEntry(ours, size, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckRecord(path, int64(size), roots[size], int64(n), tlog.RecordHash(ours.leaves[n])); err != nil {
			t.Fatalf("entry %d of %d: %v", n, size, err)
		}
		if tlog.CheckRecord(path, int64(size), roots[size], int64(n), tlog.RecordHash([]byte("other"))) == nil {
			t.Fatalf("the proof of entry %d of %d is valid for another leaf", n, size)
		}
		growth, err := audit.ProveGrowth(ours, n+1, size)
		if err != nil {
			t.Fatal(err)
		}
		if err := tlog.CheckTree(growth, int64(size), roots[size], int64(n+1), roots[n+1]); err != nil {
			t.Fatalf("%d to %d: %v", n+1, size, err)
		}
	}
}

// TestNodeOfDamagedEntry tests that an entry with too few hashes causes an error and no panic.
func TestNodeOfDamagedEntry(t *testing.T) {
	t.Parallel()
	if _, err := audit.NodeOf([]byte("x"), nil, 1); err == nil {
		t.Error("a hash that is not stored was returned")
	}
}
