package audit

import (
	"crypto/sha256"
	"fmt"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is a hash of the tree, SHA-256.
type Hash = tlog.Hash

// Tree reads the stored parts of the tree: with each entry its leaf, and the hashes of the subtrees
// that it completed.
type Tree interface {
	// Node returns the hash of the subtree of 2^level entries that this entry, counted from 0,
	// completed.
	Node(level int, number uint64) (Hash, error)
}

// NodeOf returns one of the hashes that are stored with an entry.
func NodeOf(leaf []byte, completed []Hash, level int) (Hash, error) {
	switch {
	case level == 0:
		return tlog.RecordHash(leaf), nil
	case level > len(completed):
		return Hash{}, fmt.Errorf("audit: an entry has %d hashes, not %d", len(completed), level)
	}
	return completed[level-1], nil
}

// Completed returns the number of subtrees of two and more entries that an entry completes.
func Completed(number uint64) int { return bits.TrailingZeros64(^number) }

// State is the input from earlier entries for the next one: their number, and the hashes of the
// largest complete subtrees, from left to right. The zero State is the state of an empty log.
type State struct {
	Size     uint64
	Frontier []Hash
}

// Append returns the hashes of the subtrees of 2, 4, 8 … entries that the next leaf completes, and
// the state after it.
func (s State) Append(leaf []byte) (completed []Hash, next State) {
	hash := tlog.RecordHash(leaf)
	left := s.Frontier
	completed = make([]Hash, 0, Completed(s.Size))
	for range cap(completed) {
		hash = tlog.NodeHash(left[len(left)-1], hash)
		left = left[:len(left)-1]
		completed = append(completed, hash)
	}
	return completed, State{s.Size + 1, append(slices.Clone(left), hash)}
}

// Root returns the hash of the tree of all entries.
func (s State) Root() Hash {
	if s.Size == 0 {
		return sha256.Sum256(nil)
	}
	root := s.Frontier[len(s.Frontier)-1]
	for _, left := range slices.Backward(s.Frontier[:len(s.Frontier)-1]) {
		root = tlog.NodeHash(left, root)
	}
	return root
}

// Valid reports whether the number of hashes matches the number of entries.
func (s State) Valid() bool { return len(s.Frontier) == bits.OnesCount64(s.Size) }

// Root returns the root of the tree with the given number of entries.
func Root(t Tree, size uint64) (Hash, error) {
	if size == 0 {
		return State{}.Root(), nil
	}
	return tlog.TreeHash(int64(size), reader(t))
}

// ProveEntry returns the hashes that, with the leaf of an entry, give the root of the tree of the
// given size: the audit path of RFC 6962.
func ProveEntry(t Tree, size, number uint64) ([]Hash, error) {
	return tlog.ProveRecord(int64(size), int64(number), reader(t))
}

// ProveGrowth returns the hashes that give the roots of the trees of both sizes, of which older is
// the smaller: the consistency proof of RFC 6962.
func ProveGrowth(t Tree, older, newer uint64) ([]Hash, error) {
	return tlog.ProveTree(int64(newer), int64(older), reader(t))
}

// reader reads the hashes by tlog's numbers.
func reader(t Tree) tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) ([]Hash, error) {
		hashes := make([]Hash, len(indexes))
		for i, index := range indexes {
			level, n := tlog.SplitStoredHashIndex(index)
			var err error
			if hashes[i], err = t.Node(level, (uint64(n)+1)<<level-1); err != nil {
				return nil, err
			}
		}
		return hashes, nil
	})
}
