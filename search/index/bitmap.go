package index

import "math/bits"

// bitmap is a set of documents of a shard. Nil is the empty set.
type bitmap []uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) has(doc int) bool {
	return b != nil && b[doc/64]>>(doc%64)&1 != 0
}

func (b bitmap) set(doc int) { b[doc/64] |= 1 << (doc % 64) }

func (b bitmap) count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// fill adds the documents 0 to n-1.
func (b bitmap) fill(n int) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	if n%64 != 0 {
		b[len(b)-1] = 1<<(n%64) - 1
	}
}

// each calls yield for each document in order, until yield returns false.
func (b bitmap) each(yield func(doc int) bool) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(64*i + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
